"""No test depends on a clock or on a random seed: what lets one in again is named here, file and line."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from pathlib import Path

from hypothesis import settings

ROOT = Path(__file__).parents[2]
TESTS = sorted((ROOT / "tests").rglob("*.py"))
WAITS = {"tests/patience.py", "tests/fuzz.py"}
"""What may look at the clock: a limit on what hangs, and how long to go on."""

CLOCKS = {f"{name}{unit}" for name in ("time", "monotonic", "perf_counter", "process_time") for unit in ("", "_ns")}
OF_THE_PROFILE = {"derandomize", "deadline", "database", "suppress_health_check"}
WAITING = {"wait", "communicate", "join", "run", "get", "urlopen"}
UNSEEDED = {"Random", "default_rng", "SystemRandom", "RandomState"}


def calls(but: Collection[str] = ()) -> Iterator[tuple[str, ast.Call, str]]:
    """Where a test calls something, the call, and the name that is called without what stands before its dot."""
    for path in TESTS:
        name = str(path.relative_to(ROOT))
        if name in but:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                yield f"{name}:{node.lineno}", node, called


def of_time(node: ast.Call) -> bool:
    """As in `time.monotonic()`; the clock of a virtual loop is another thing."""
    function = node.func
    if isinstance(function, ast.Attribute):
        return isinstance(function.value, ast.Name) and function.value.id == "time"
    return isinstance(function, ast.Name) and function.id != "time"


def test_no_test_measures_time() -> None:
    """Wait with `tests/patience.py`, or in virtual time; measure with `arena bench`."""
    assert [place for place, node, name in calls(but=WAITS) if name in CLOCKS and of_time(node)] == []


def test_no_wait_for_an_event_is_shorter_than_patience() -> None:
    short = [
        place
        for place, node, name in calls()
        for keyword in node.keywords
        if name in WAITING and keyword.arg == "timeout" and isinstance(keyword.value, ast.Constant)
    ]
    assert short == []


def test_properties_are_tried_as_the_profile_says() -> None:
    """The profile of tests/conftest.py: the same values every time, no deadline; `make fuzz` takes fresh ones."""
    own = [
        place
        for place, node, name in calls(but={"tests/conftest.py"})
        if name in ("settings", "seed") and OF_THE_PROFILE & {keyword.arg for keyword in node.keywords}
    ]
    assert own == []
    chosen = settings()
    assert (chosen.derandomize, chosen.deadline, chosen.database) == (True, None, None)


def test_no_generator_is_without_a_seed() -> None:
    assert [place for place, node, name in calls() if name in UNSEEDED and not node.args + node.keywords] == []
