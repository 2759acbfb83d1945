"""What finished runs used, cell by cell."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from arena.accounting import Account, keep_books
from arena.errors import RunStoreError
from arena.leaderboard.build import COVERAGE_FLOOR, CellSummary
from arena.prices import PriceTable
from arena.store import FINISHED, MANIFEST, RunStore
from experiments.runs.study import read_leaderboard


@dataclass(frozen=True, slots=True)
class PastAccount:
    """The account of one cell of a finished run."""

    run_id: str
    n_questions: int
    account: Account


def past_accounts(
    runs_dir: Path, dataset_fingerprint: str, cells: AbstractSet[str], prices: PriceTable
) -> dict[str, PastAccount]:
    """Cell key -> its account, at `prices`, in the last finished run on the same data that has it.

    A run that cannot be read is passed over, and a cell of which so many questions failed that its means are withheld:
    they stopped short, and took less than they should.
    """
    found: dict[str, PastAccount] = {}
    for store in _finished(runs_dir, dataset_fingerprint):
        with suppress(RunStoreError):
            whole = {cell.cell for cell in read_leaderboard(store).cells if _is_whole(cell)}
            wanted = whole & (cells - found.keys())
            if not wanted:
                continue
            books = keep_books((record for record in store.records() if record.cell.key in wanted), prices)
            found |= {
                key: PastAccount(store.run_id, asked, books.of_cell(key)) for key, asked in books.n_questions.items()
            }
    return found


def _is_whole(cell: CellSummary) -> bool:
    return cell.n_failed <= (1.0 - COVERAGE_FLOOR) * cell.n_questions


def _finished(runs_dir: Path, dataset_fingerprint: str) -> list[RunStore]:
    """Finished runs on that data, the last one first."""
    finished: list[tuple[str, str, RunStore]] = []
    for path in runs_dir.glob(f"*/{MANIFEST}"):
        store = RunStore(path.parent)
        with suppress(RunStoreError):
            manifest = store.manifest()
            if manifest["status"] == FINISHED and manifest["identity"].get("dataset") == dataset_fingerprint:
                finished.append((manifest["started"], store.run_id, store))
    return [store for _, _, store in sorted(finished, key=lambda run: run[:2], reverse=True)]
