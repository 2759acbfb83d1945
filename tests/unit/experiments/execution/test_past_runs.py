from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from arena.leaderboard.build import build_leaderboard
from arena.prices import PriceTable
from arena.scoring import score_records
from arena.store import RunStore
from arena.types import Dataset, RunRecord
from experiments.execution.dry_run import past_accounts
from tests.samples import answered, cell, failed

PRICES = PriceTable({}, date(2026, 1, 31))
VANILLA, IRCOT = cell("vanilla"), cell("ircot")


def finished(
    folder: Path, dataset: Dataset, records: Sequence[RunRecord], *, started: str, status: str = "finished"
) -> RunStore:
    store = RunStore(folder)
    identity = {"dataset": dataset.fingerprint}
    with store.creating({"status": status, "started": started, "config": {}, "identity": identity}) as journal:
        for record in records:
            journal.append(record)
    table = score_records(records, dataset)
    board = build_leaderboard(table, dataset, run_id=folder.name, fingerprint="f", tiers={}, seed=0)
    store.write_leaderboard(board.model_dump_json())
    return store


def test_each_cell_is_taken_from_the_last_run_that_has_it(dataset: Dataset, tmp_path: Path) -> None:
    both = [answered("q1", "x", of=VANILLA), answered("q2", "x", of=VANILLA), answered("q1", "x", of=IRCOT)]
    finished(tmp_path / "old", dataset, both, started="2026-01-01T00:00:00+00:00")
    finished(tmp_path / "new", dataset, both[:1], started="2026-01-02T00:00:00+00:00")
    past = past_accounts(tmp_path, dataset.fingerprint, {VANILLA.key, IRCOT.key, "other"}, PRICES)
    assert {key: (one.origin, one.n_observed) for key, one in past.items()} == {
        VANILLA.key: ("new", 1),
        IRCOT.key: ("old", 1),
    }
    assert past[IRCOT.key].account.whole.calls == 1


def test_unfinished_runs_other_data_and_damaged_folders_are_passed_over(dataset: Dataset, tmp_path: Path) -> None:
    records = [answered("q1", "x", of=VANILLA)]
    finished(tmp_path / "cut", dataset, records, started="2026-01-03T00:00:00+00:00", status="stopped")
    damaged = finished(tmp_path / "bad", dataset, records, started="2026-01-02T00:00:00+00:00")
    damaged.write_leaderboard("{}")
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "manifest.json").write_text("{}")
    assert past_accounts(tmp_path, dataset.fingerprint, {VANILLA.key}, PRICES) == {}
    finished(tmp_path / "good", dataset, records, started="2026-01-01T00:00:00+00:00")
    assert past_accounts(tmp_path, "ds_other", {VANILLA.key}, PRICES) == {}
    assert past_accounts(tmp_path, dataset.fingerprint, {VANILLA.key}, PRICES)[VANILLA.key].origin == "good"


def test_a_cell_that_failed_says_nothing(dataset: Dataset, tmp_path: Path) -> None:
    records = [answered("q1", "x", of=VANILLA), failed("q2", of=VANILLA), answered("q1", "x", of=IRCOT)]
    finished(tmp_path / "run", dataset, records, started="2026-01-01T00:00:00+00:00")
    assert past_accounts(tmp_path, dataset.fingerprint, {VANILLA.key, IRCOT.key}, PRICES).keys() == {IRCOT.key}


def test_no_runs_folder_is_no_past(tmp_path: Path) -> None:
    assert past_accounts(tmp_path / "nowhere", "ds", {VANILLA.key}, PRICES) == {}


def test_a_run_under_another_window_is_no_past(dataset: Dataset, tmp_path: Path) -> None:
    finished(tmp_path / "r", dataset, [answered("q1", "x", of=VANILLA)], started="2026-01-01T00:00:00+00:00")
    wanted = (tmp_path, dataset.fingerprint, {VANILLA.key}, PRICES)
    assert past_accounts(*wanted).keys() == {VANILLA.key}
    assert past_accounts(*wanted, context_tokens=4096) == {}
