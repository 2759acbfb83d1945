from __future__ import annotations

from collections import Counter

from experiments.bench.made_up import synthetic_records, synthetic_world
from experiments.bench.runs import measure_scoring


def test_a_made_up_run_is_the_same_every_time_and_has_every_question_in_twelve_cells() -> None:
    world = synthetic_world(20)
    records = list(synthetic_records(world))
    assert records == list(synthetic_records(world))
    assert set(Counter(record.cell.key for record in records).values()) == {20}
    assert len(records) == 12 * 20
    assert {record.outcome for record in records} >= {"answered", "abstained"}


def test_every_figure_is_measured() -> None:
    said: list[str] = []
    figures = measure_scoring(20, say=said.append)
    assert (figures["questions"], figures["records"], figures["pairs"]) == (20, 240, 66)
    seconds = {name: value for name, value in figures.items() if name.endswith("_seconds")}
    assert set(seconds) == {
        *("read_seconds", "score_seconds", "leaderboard_seconds", "write_seconds"),
        *("bootstrap_seconds", "permutation_seconds"),
    }
    assert all(isinstance(value, float) and value > 0 for value in seconds.values())
    assert len(said) == 2
