from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from inspect import signature
from unittest.mock import create_autospec

import pytest

from experiments.bench import BENCHES
from tests.patience import PATIENCE_SECONDS

HEAVY = {"llm": "llm", "strategies": "llm", "index": "retrieval", "retrieval": "retrieval"}
HEAVY |= dict.fromkeys(("runner", "scoring", "report"), "runs")


@pytest.mark.parametrize(("name", "module"), HEAVY.items())
def test_a_benchmark_is_found_in_its_module_and_quickly_is_given_smaller_sizes(
    name: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = import_module(f"experiments.bench.{module}")
    measured = create_autospec(getattr(place, f"measure_{name}"), return_value={})
    monkeypatch.setattr(place, f"measure_{name}", measured)
    for quick in (False, True):
        assert BENCHES[name](quick, print) == {}
    plain, quicker = (signature(measured).bind(*call.args, **call.kwargs).arguments for call in measured.call_args_list)
    assert plain.keys() == {"say"}
    assert quicker.keys() > {"say"}


def test_a_process_that_measures_engines_loads_no_strategy() -> None:
    code = "import sys, experiments.bench.retrieval; sys.exit('strategies' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=PATIENCE_SECONDS, check=False).returncode == 0
