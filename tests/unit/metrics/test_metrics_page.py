from __future__ import annotations

import re
from pathlib import Path

from arena.metrics import METRICS
from arena.metrics import case as reasons

PAGE = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text(encoding="utf-8")
ROWS = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| `")]


def test_the_page_describes_every_metric_once() -> None:
    assert sorted(row[0].split("`")[1] for row in ROWS) == sorted(METRICS)
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 6 for line in PAGE.splitlines() if line.startswith("|"))


def test_the_page_says_what_is_binary_and_what_counts_faults() -> None:
    for row in ROWS:
        spec = METRICS[row[0].split("`")[1]]
        assert (row[2] == "{0, 1}") == spec.binary, spec.name
        assert ("\u2193" not in row[0]) == spec.higher_is_better, spec.name


def test_the_page_names_every_reason_of_a_metric_without_a_model() -> None:
    codes = {value for name, value in vars(reasons).items() if name.isupper() and isinstance(value, str)}
    judged = {reasons.NOT_JUDGED, reasons.PARTLY_JUDGED, reasons.JUDGE_FAILED}
    assert not {code for code in codes - judged if f"`{code}`" not in PAGE}
