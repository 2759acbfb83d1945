from __future__ import annotations

import ast
import importlib
import re
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from experiments.execution.process import PACKAGES, collisions

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
MODULES = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in SOURCES}


@cache
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def imported(tree: ast.Module) -> set[str]:
    """Our modules that a file imports anywhere in it, for types included."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found & MODULES.keys()


def test_modules_stay_readable() -> None:
    sizes = {str(path.relative_to(ROOT)): lines(path) for path in SOURCES}
    assert not {name: size for name, size in sizes.items() if size > 400}


def test_the_product_has_few_files() -> None:
    """What a new one does belongs as a rule into one that is there."""
    assert len(SOURCES) <= 310


def test_experiments_has_few_rooms() -> None:
    rooms = [path for path in (ROOT / "experiments").iterdir() if path.is_dir() and path.name != "__pycache__"]
    assert len(rooms) <= 12


def test_a_small_module_serves_more_than_its_neighbour() -> None:
    """One of under 60 lines whose only reader is in its own package belongs into that reader."""
    readers: dict[str, set[str]] = {name: set() for name in MODULES}
    for name, path in MODULES.items():
        for read in imported(trees()[path]) - {name}:
            readers[read].add(name)
    packages = {name for name, path in MODULES.items() if path.name == "__init__.py"}
    lonely = [
        name
        for name, path in MODULES.items()
        if name not in packages and lines(path) < 60 and len(readers[name]) == 1
        for reader in readers[name]
        if f"{reader}.".startswith(f"{name.rpartition('.')[0]}.")
    ]
    assert lonely == []


def test_a_public_class_has_a_name_of_its_own() -> None:
    homes: dict[str, list[str]] = {}
    for name, path in MODULES.items():
        for node in trees()[path].body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(name)
    assert {name for name, found in homes.items() if len(found) > 1} == set()


def test_functions_stay_small() -> None:
    long = {
        f"{path.relative_to(ROOT)}:{node.name}": node.end_lineno - node.lineno + 1
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > 60
    }
    assert not long


def test_a_module_runs_only_once_it_is_whole() -> None:
    """What `python -m` runs is the last statement: what stands below it would not be there yet."""
    files = [*SOURCES, *(ROOT / "docs" / "build").glob("*.py")]
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}
    early = [
        str(path.relative_to(ROOT))
        for path, tree in trees.items()
        for node in tree.body[:-1]
        if isinstance(node, ast.If) and "__main__" in ast.unparse(node.test)
    ]
    assert early == []


@pytest.mark.parametrize("word", ["utils", "helpers", "common", "misc"])
def test_no_module_is_named_after_nothing(word: str) -> None:
    assert not [path for path in SOURCES if path.stem == word]


def test_the_environment_is_read_in_two_places() -> None:
    """Ours in the settings, what all HTTP libraries obey in `arena.network`."""
    reads = re.compile(r"os\.(environ\b(?!\.setdefault)|getenv)")
    found = [str(path.relative_to(ROOT)) for path in SOURCES if reads.search(path.read_text(encoding="utf-8"))]
    assert found == ["arena/config/loading.py", "arena/network.py"]


def test_broad_excepts_stand_only_where_foreign_code_may_raise_anything() -> None:
    """The runner meets strategies, the client providers, the edge engine its bindings; search tools and systems of
    one's own are anyone's code; two tables meet plugins; the server's threads hand on whatever ended their work.
    """
    found = {
        str(path.relative_to(ROOT))
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id in {"Exception", "BaseException"}))
        and not (isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None)  # cleans up and lets it pass
    }
    assert found == {
        "arena/datasets/__init__.py",
        "arena/llm/client.py",
        "arena/runner/question.py",
        "experiments/execution/callers.py",
        "experiments/execution/evidence.py",
        "experiments/views/serve/pages.py",
        "indexing/retriever.py",
        "indexing/engines/edge.py",
        "strategies/table.py",
    }


@pytest.mark.parametrize(
    "module", ["strategies", "arena.datasets", "arena.metrics", "arena.datasets.world", "arena.llm", "indexing.engines"]
)
def test_all_is_sorted_and_real(module: str) -> None:
    loaded = importlib.import_module(module)
    names = getattr(loaded, "__all__", [])
    constants_classes_functions = sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    assert names == constants_classes_functions
    assert all(hasattr(loaded, name) for name in names)


def test_no_other_distribution_provides_our_packages() -> None:
    assert all(finding.sound for finding in collisions(packages_distributions()))


def test_a_collision_is_named_with_what_to_do() -> None:
    finding = next(f for f in collisions({"arena": ["rag-strategy-arena", "arena-client"]}) if not f.sound)
    assert finding.subject == "package arena"
    assert "arena-client: uninstall it" in finding.detail
