"""A wheel of a small package, made without a build tool and without the network."""

from __future__ import annotations

import tomllib
import zipfile
from pathlib import Path


def build_wheel(project: Path, folder: Path) -> Path:
    """The wheel of a project of plain modules beside a `pyproject.toml`, its entry points included."""
    about = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    stem = f"{about['name'].replace('-', '_')}-{about['version']}"
    info = f"{stem}.dist-info"
    groups = about.get("entry-points", {})
    points = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in groups[group].items()) for group in groups
    ]
    texts = {
        **{module.name: module.read_text(encoding="utf-8") for module in sorted(project.glob("*.py"))},
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "\n".join(points),
    }
    record = "".join(f"{name},,\n" for name in (*texts, f"{info}/RECORD"))
    wheel = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in (texts | {f"{info}/RECORD": record}).items():
            archive.writestr(name, text)
    return wheel
