"""The code that a strategy consists of, as one hash: its modules and all that they import of the same package."""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from strategies import StrategySpec


def code_sha256(spec: StrategySpec) -> str:
    """Changes with any source line that the strategy's graph or parameters are made by, and with no other strategy's.

    What a module imports from its own top-level package counts; other packages have versions.
    """
    build = spec.build
    while isinstance(build, partial):
        build = build.func
    digest = hashlib.sha256()
    for name, text in sorted(_reached({build.__module__, spec.params.__module__}).items()):
        digest.update(name.encode() + b"\0" + text + b"\0")
    return digest.hexdigest()


def _reached(modules: set[str]) -> dict[str, bytes]:
    """Module -> source, of `modules` and all that they import of their own packages."""
    found: dict[str, bytes] = {}
    waiting = sorted(modules)
    while waiting:
        name = waiting.pop()
        path = None if name in found else _source(name)
        if path is not None:
            found[name] = path.read_bytes()
            waiting += _imported(found[name], name, is_package=path.name == "__init__.py")
    return found


def _source(name: str) -> Path | None:
    """Where a module's source is; None for a name that is no module, or has none."""
    top, *rest = name.split(".")
    file = getattr(sys.modules.get(top), "__file__", None)
    if file is None:
        return None
    package = Path(file).parent
    places = (
        [package.joinpath(*rest, "__init__.py"), package.joinpath(*rest).with_suffix(".py")] if rest else [Path(file)]
    )
    return next((place for place in places if place.is_file()), None)


def _imported(source: bytes, name: str, *, is_package: bool) -> Iterator[str]:
    """The modules of its own top-level package that a module may import, at any place in it."""
    top = name.split(".")[0]
    for node in ast.walk(ast.parse(source)):
        targets: list[str] = []
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            here = name.split(".") if is_package else name.split(".")[:-1]
            base = ".".join(here[: len(here) + 1 - node.level]) if node.level else ""
            module = ".".join(filter(None, (base, node.module)))
            targets = [module, *(f"{module}.{alias.name}" for alias in node.names)]
        yield from (target for target in targets if target.split(".")[0] == top)
