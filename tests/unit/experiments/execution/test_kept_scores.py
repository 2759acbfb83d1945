from __future__ import annotations

from pathlib import Path

import pytest

from arena.datasets import load_dataset
from arena.errors import RunStoreError
from arena.store import SCORES
from experiments.execution.scoring import PastRun, open_past_run, score_run, write_conclusion
from experiments.execution.scoring import board_of as board_of_run
from experiments.views.report import kept_scores
from tests.integration.finished_run import small_records
from tests.unit.experiments.made_runs import made_run


@pytest.fixture
def run(tmp_path: Path, jsonl_folder: Path) -> PastRun:
    """Five questions in two cells, some of them failed, concluded."""
    spec = f"jsonl:{jsonl_folder}"
    dataset = load_dataset(spec)
    past = open_past_run(made_run(tmp_path / "r1", spec, dataset, small_records()), dataset)
    table = score_run(past)
    write_conclusion(past.store, table, board_of_run(past, table))
    return past


def test_what_is_kept_is_what_was_scored(run: PastRun) -> None:
    kept, scored = kept_scores(run, judged=False), score_run(run)
    assert [cell.cell for cell in kept.cells] == [cell.cell for cell in scored.cells]
    for ours, theirs in zip(kept.cells, scored.cells, strict=True):
        assert ours.answers == theirs.answers
        assert ours.failures == theirs.failures
        assert list(ours.scores) == list(theirs.scores)
        for question_id, scores in theirs.scores.items():
            said = [(one.metric, one.value, one.reason) for one in ours.scores[question_id]]
            assert said == [(one.metric, one.value, one.reason) for one in scores]


def test_sums_of_usage_are_kept(run: PastRun) -> None:
    for ours, theirs in zip(kept_scores(run, judged=False).cells, score_run(run).cells, strict=True):
        for question_id, usage in theirs.usage.items():
            kept = ours.usage[question_id]
            assert (kept.outcome, kept.measured, kept.retrievals) == (usage.outcome, usage.measured, usage.retrievals)
            assert kept.latency_seconds == usage.latency_seconds
            assert kept.account.whole.input_tokens.value == usage.account.whole.input_tokens.value
            assert kept.account.whole.usd.value == usage.account.whole.usd.value


def test_a_run_without_its_tables_is_refused(run: PastRun) -> None:
    (run.store.folder / SCORES).unlink()
    with pytest.raises(RunStoreError, match=r"scores\.parquet"):
        kept_scores(run, judged=False)


def test_judges_are_there_where_there_were_any(run: PastRun) -> None:
    assert kept_scores(run, judged=False).judges is None
    assert kept_scores(run, judged=True).judges is not None
