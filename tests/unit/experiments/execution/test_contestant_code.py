from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module, invalidate_caches
from pathlib import Path

import pytest

from experiments.execution.identity import code_sha256
from strategies import STRATEGIES, StrategySpec

FILES = {
    "__init__.py": "",
    "graph.py": "from contestants_pkg.shared import helper\nfrom . import sibling\n\n\ndef build(params): ...\n",
    "shared.py": "def helper():\n    import contestants_pkg.deep.inner\n",
    "sibling.py": "import json\n",
    "other.py": "x = 1\n",
    "deep/__init__.py": "",
    "deep/inner.py": "from ..params import P\n",
    "params.py": "class P: ...\n",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name, text in FILES.items():
        (tmp_path / "contestants_pkg" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "contestants_pkg" / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    invalidate_caches()
    yield tmp_path / "contestants_pkg"
    for name in [name for name in sys.modules if name.split(".")[0] == "contestants_pkg"]:
        del sys.modules[name]


def spec() -> StrategySpec:
    build = import_module("contestants_pkg.graph").build
    return replace(STRATEGIES["vanilla"], name="theirs", build=build, params=import_module("contestants_pkg.params").P)


@pytest.mark.parametrize("name", ["graph.py", "shared.py", "sibling.py", "deep/inner.py", "params.py"])
def test_a_change_in_what_a_strategy_imports_changes_its_hash(package: Path, name: str) -> None:
    before = code_sha256(spec())
    (package / name).write_text(FILES[name] + "# changed\n")
    assert code_sha256(spec()) != before


def test_a_change_elsewhere_leaves_the_hash_as_it_is(package: Path) -> None:
    before = code_sha256(spec())
    (package / "other.py").write_text("x = 2\n")
    assert code_sha256(spec()) == before


def test_a_build_function_with_arguments_filled_in_is_still_its_own_modules(package: Path) -> None:
    one = spec()
    assert code_sha256(replace(one, build=partial(one.build, 1))) == code_sha256(one)


def test_strategies_of_other_modules_have_other_hashes() -> None:
    hashes = {
        name: code_sha256(STRATEGIES[name]) for name in ("vanilla", "self_rag", "corrective", "adaptive", "ircot")
    }
    assert len(set(hashes.values())) == 5
    assert all(len(one) == 64 for one in hashes.values())
