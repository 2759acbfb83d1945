"""What every test may use. The network is blocked by pytest-socket; only the loopback interface is open.

Nothing here depends on a clock or on a random seed: properties are tried on the same values every time, and tests run
in the same order. `make fuzz` takes fresh values.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from arena.types import Dataset
from experiments.execution.process import short_pauses
from tests.samples import small_dataset

ORDER_SEED = 16
"""Of pytest-randomly, where no other is asked for: of the order of the tests, and of `random` in each."""

_INDEXING = Path(__file__).parent / "unit" / "indexing"
_BUILD_MODELS = ("tests.tiny_models", "tests.tiny_t5", "tiny_embedder")

# Each worker has a core; more threads than that wait for each other, in torch above all.
os.environ.setdefault("OMP_NUM_THREADS", "1")

_n_spared = 0
"""Modules there were when what stays was last spared."""

_TIMELESS = settings(
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    print_blob=True,
)
settings.register_profile("suite", _TIMELESS, derandomize=True)
settings.register_profile("fuzz", _TIMELESS, derandomize=False, max_examples=500)
settings.load_profile("suite")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Before pytest-randomly draws a seed; it may be switched off.

    What is collected and imported stays: the collector looks seldom, as it does in a command.
    """
    gc.set_threshold(10_000)
    if config.getoption("randomly_seed", None) == "default":
        config.option.randomly_seed = ORDER_SEED


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that open real models, which `make check` leaves out: torch alone takes seconds to import."""
    sources: dict[Path, bool] = {}
    for item in items:
        if item.path not in sources:
            text = item.path.read_text(encoding="utf-8")
            sources[item.path] = item.path.is_relative_to(_INDEXING) or any(name in text for name in _BUILD_MODELS)
        if sources[item.path]:
            item.add_marker("models")


def pytest_collection_finish() -> None:
    """Thousands of collected tests live to the end."""
    _spare_what_stays()


def pytest_runtest_call() -> None:
    """Fixtures may have imported a library."""
    if len(sys.modules) > _n_spared + 100:
        _spare_what_stays()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """The test may have; or tests of a file have given back what was spared."""
    ends = nextitem is None or nextitem.path != item.path
    if len(sys.modules) > _n_spared + 100 or (ends and len(gc.get_objects(generation=2)) > 50_000):
        _spare_what_stays()


@pytest.fixture(scope="session", autouse=True)
def _spared_to_the_end() -> Iterator[None]:
    """No run in a test gives back what is spared here."""
    with short_pauses():
        yield


def _spare_what_stays() -> None:
    """Let no later look for garbage go through what lives to the end of the tests: modules above all.

    One look through torch, MLflow and their like takes a second, and FlagEmbedding begins one for each model that goes.
    """
    global _n_spared
    gc.collect()
    gc.freeze()
    _n_spared = len(sys.modules)


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test, and no fixture of many, reads or writes the user's cache, keys or tracking server."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setenv("ARENA_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "MLFLOW_TRACKING_URI"):
            changed.delenv(variable, raising=False)
        yield


@pytest.fixture
def dataset() -> Dataset:
    """Four documents and five questions, one of each kind."""
    return small_dataset()


@pytest.fixture
def jsonl_folder(tmp_path: Path) -> Path:
    """The small dataset as a user's own JSON lines."""
    from arena.datasets.jsonl import write_jsonl

    folder = tmp_path / "data"
    write_jsonl(small_dataset(), folder)
    return folder
