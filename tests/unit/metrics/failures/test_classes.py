from __future__ import annotations

from itertools import groupby
from pathlib import Path

from arena.metrics.failures import failure_classes


def test_every_class_says_when_it_applies() -> None:
    for name, one in failure_classes().items():
        assert one.name == name
        assert one.meaning
        assert one.rule.endswith(".")
        assert bool(one.remedy) == (one.is_failure or name in ("unscored", "answered_without_evidence"))


def test_the_waterfall_starts_with_faults_and_ends_with_what_is_right() -> None:
    stages = [stage for stage, _ in groupby(failure_classes().values(), lambda one: one.stage)]
    assert (stages[0], stages[-3:]) == ("system", ["form", "untold", "right"])


def test_right_answers_and_untold_ones_are_no_failures() -> None:
    sound = {name for name, one in failure_classes().items() if not one.is_failure}
    assert sound == {"correct", "correct_abstention", "evidence_found", "answered_without_evidence", "unscored"}


def test_the_documentation_states_every_rule() -> None:
    text = (Path(__file__).parents[4] / "docs" / "failures.md").read_text(encoding="utf-8")
    for one in failure_classes().values():
        assert f"| `{one.name}` | {one.stage} | {one.rule} | {one.remedy or '–'} |" in text
