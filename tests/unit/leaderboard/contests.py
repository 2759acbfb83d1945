"""Runs made by hand in which it is known who answers what right."""

from __future__ import annotations

from collections.abc import Callable

from arena.leaderboard.build import Leaderboard, build_leaderboard
from arena.scoring import score_records
from arena.types import Cell, Dataset, Document, Gold, Question, RunRecord
from tests.samples import answered, cell, failed

N = 60
IDS = tuple(f"q{place:02}" for place in range(N))


def sixty_questions() -> Dataset:
    """Sixty questions of two and three hops by turns; the answer to each is `yes`, in document d1."""
    shapes = (("2hop", 2), ("3hop1", 3))
    questions = tuple(
        Question(one, "?", "multi_hop", shapes[place % 2][1], shapes[place % 2][0]) for place, one in enumerate(IDS)
    )
    documents = (Document("d1", "One", "It says yes."), Document("d2", "Two", "It says no."))
    return Dataset("sixty", documents, questions, {one: Gold(one, ("yes",), ("d1",), ("d1",)) for one in IDS}, "data_0")


def run_of(
    of: Cell, right: Callable[[int], bool], lost: Callable[[int], bool] = lambda place: False
) -> list[RunRecord]:
    """A cell that answers right where `right(place)` and fails where `lost(place)`."""
    return [
        failed(one, of=of) if lost(place) else answered(one, "yes" if right(place) else "no", ("d1",), of=of)
        for place, one in enumerate(IDS)
    ]


def board_of(*records: RunRecord, seed: int = 0, probe: dict[str, list[float]] | None = None) -> Leaderboard:
    """The leaderboard of these records."""
    dataset = sixty_questions()
    table = score_records(records, dataset)
    return build_leaderboard(table, dataset, run_id="r", fingerprint="f", tiers={}, seed=seed, probe=probe)


GOOD, MIDDLING, POOR = cell("good"), cell("middling"), cell("poor")
CLOSED_BOOK, ORACLE = Cell("closed_book", "none", "fake:", {}), Cell("oracle", "gold", "fake:", {})


def three_cells() -> list[RunRecord]:
    """50, 48 and 10 right of 60, the better right wherever the worse are."""
    return [
        *run_of(GOOD, lambda place: place < 50),
        *run_of(MIDDLING, lambda place: place < 48),
        *run_of(POOR, lambda place: place < 10),
    ]
