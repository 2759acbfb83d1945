from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("arena", "strategies", "indexing", "experiments")
HEAVY = {"torch", "FlagEmbedding", "mlflow", "ragas", "datasets", "plotly", "transformers", "sentence_transformers"}
MODULES = sorted(
    str(path.relative_to(ROOT).with_suffix("")).replace("/", ".").removesuffix(".__init__")
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
)


def loaded_by(statement: str) -> set[str]:
    code = (
        f"import json, sys\n{statement}\nprint(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def test_importing_the_packages_loads_nothing_heavy() -> None:
    assert not loaded_by(f"import {', '.join(PACKAGES)}") & HEAVY


def test_no_module_loads_anything_heavy_at_import() -> None:
    assert not loaded_by("\n".join(f"import {module}" for module in MODULES)) & HEAVY


def test_the_command_line_loads_neither_models_nor_graphs_nor_numbers() -> None:
    assert not loaded_by("import experiments.cli.main") & (HEAVY | {"langgraph", "langchain_core", "numpy", "pydantic"})


@pytest.mark.parametrize("module", MODULES)
def test_every_module_says_what_it_is_for(module: str) -> None:
    path = ROOT / Path(*module.split("."))
    source = path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__init__.py"
    assert source.read_text(encoding="utf-8").startswith('"""'), f"{module} has no docstring"
