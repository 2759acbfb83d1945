from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from arena.leaderboard.build import CellSummary, Leaderboard
from arena.leaderboard.guards import GuardFinding
from arena.report.names import marks_of
from arena.report.sections.headline import headline
from arena.types import Cell, RunRecord
from tests.samples import cell
from tests.unit.leaderboard.boards import NOT_DEFINED, SOUND, WITHHELD, board, row
from tests.unit.leaderboard.contests import IDS, board_of, run_of, three_cells
from tests.unit.report.pages import said


def read(one: Leaderboard) -> str:
    return said(headline(one, marks_of(one)))


def changed(one: CellSummary, **changes: Any) -> CellSummary:
    return one.model_copy(update=changes)


def test_one_ahead_of_all_is_said_to_be_so() -> None:
    good, poor = cell("good"), cell("poor")
    text = read(board_of(*run_of(good, lambda place: place < 50), *run_of(poor, lambda place: place < 10)))
    assert text.startswith("good + dense is ahead in answer F1: 0.83 (95% interval .73\N{EN DASH}.94).")
    assert "It is better than the other cell by more than chance." in text


def test_a_tie_at_the_top_names_those_who_share_it() -> None:
    text = read(board_of(*three_cells()))
    assert text.startswith("good + dense is in the top group in answer F1 with middling + dense: its mean is 0.83")
    assert "no cell is better than any of these by more than chance" in text


def test_where_nothing_differs_nobody_is_ahead() -> None:
    one, other, third = cell("one"), cell("other"), cell("third")
    text = read(board_of(*run_of(one, lambda place: place < 30), *run_of(other, lambda place: place < 29)))
    assert text.startswith("No cell is ahead: the two cells are not shown to differ in answer F1 by more than chance.")
    assert "The highest mean is that of one + dense: 0.50" in text
    three = [*run_of(one, lambda p: p < 30), *run_of(other, lambda p: p < 29), *run_of(third, lambda p: p < 28)]
    assert "no two of the 3 cells are shown to differ" in read(board_of(*three))


def test_cells_without_a_rank_are_not_said_to_be_beaten() -> None:
    withheld = row("withheld")
    two = row("a", ranks={"answer_f1": (1, 1)}), row("b", ranks={"answer_f1": (2, 2)})
    assert "It is better than the other cell by more than chance." in read(board(*two))
    assert "It is better than the other cell in this contest by more than chance." in read(board(*two, withheld))
    equal = row("a", ranks={"answer_f1": (1, 2)}), row("b", ranks={"answer_f1": (1, 2)})
    assert "the two cells in this contest are not shown to differ" in read(board(*equal, withheld))


def test_alone_on_top_is_not_better_than_everybody() -> None:
    ranked = board(
        row("a", ranks={"answer_f1": (1, 2)}),
        row("b", ranks={"answer_f1": (2, 3)}),
        row("c", ranks={"answer_f1": (2, 3)}),
    )
    text = read(ranked)
    assert "a + hybrid_rerank alone has no cell above it in answer F1 by more than chance" in text
    assert "it is not shown to be better than 1 of the other 2 cells" in text


def test_one_cell_has_nothing_to_be_compared_with() -> None:
    text = read(board(row("vanilla")))
    assert text == (
        "vanilla + hybrid_rerank has answer F1 0.56 (95% interval .49\N{EN DASH}.63). It is the only cell: there is "
        "nothing to compare it with."
    )


def test_without_answers_the_headline_is_about_recall() -> None:
    text = read(board(row(metric=SOUND, llm=None), row("other", metric=SOUND, llm=None)))
    assert "too few questions have a score in both" in text
    silent = [changed(one, metrics={**one.metrics, "answer_f1": NOT_DEFINED}) for one in (row("a"), row("b"))]
    ranked = [changed(one, ranks=row(ranks={"retrieval_recall": (1, 2)}).ranks) for one in silent]
    assert "shown to differ in recall by more than chance" in read(board(*ranked))


def test_withheld_and_invalid_figures_lead_nothing() -> None:
    assert read(board(row(metric=WITHHELD))).startswith("No cell has a figure that counts")
    invalid = changed(row("a"), guards=[GuardFinding(guard="g", message="is broken")])
    assert read(board(invalid)).startswith("No cell has a figure that counts")
    beside = read(board(invalid, row("b")))
    assert beside.startswith("b + hybrid_rerank has answer F1 0.56")
    assert beside.endswith("No other of the 2 cells has a figure that counts beside it.")


def test_a_run_without_an_answer_says_so() -> None:
    assert read(board()) == "No question has an answer yet."


def test_the_price_is_told_beside_vanilla_and_the_cheapest_of_the_group() -> None:
    ranks: Mapping[str, tuple[int, int]] = {"answer_f1": (1, 3)}
    cells = [
        priced(row(name, ranks=ranks), tokens) for name, tokens in (("vanilla", 500), ("dear", 1150), ("cheap", 90))
    ]
    best = changed(cells[1], metrics={**cells[1].metrics, "answer_f1": SOUND.model_copy(update={"mean": 0.6})})
    text = read(board(cells[0], best, cells[2]))
    assert "dear + hybrid_rerank takes 2.3 times what vanilla + hybrid_rerank does: 1,150 against 500 tokens" in text
    assert "The cheapest of the top group is cheap + hybrid_rerank, at 90 tokens a question." in text


def test_money_goes_before_tokens_and_unknown_costs_are_not_told() -> None:
    ranks: Mapping[str, tuple[int, int]] = {"answer_f1": (1, 2)}
    dear = changed(row("dear", usd=0.3, ranks=ranks), metrics={"answer_f1": SOUND.model_copy(update={"mean": 0.7})})
    assert "3.0 times what vanilla + hybrid_rerank does: 0.3 against 0.1 US dollars" in read(
        board(row("vanilla", usd=0.1, ranks=ranks), dear)
    )
    unknown = [changed(priced(row(name, ranks=ranks, measured=0), None)) for name in ("vanilla", "dear")]
    assert "times" not in read(board(*unknown))


def test_what_explains_most_failures_is_counted() -> None:
    records = run_of(Cell("vanilla", "dense", "fake:", {"k": 5}), lambda place: place < 50)
    text = read(board_of(*missing(records), *run_of(cell("poor"), lambda place: place < 10)))
    assert "Missing evidence explains 60% of what vanilla + dense gets wrong (6 of 10 questions)." in text


def test_the_least_difference_that_would_have_shown_is_told() -> None:
    text = read(board_of(*run_of(cell("a"), lambda p: p % 2 == 0), *run_of(cell("b"), lambda p: p % 3 == 0)))
    assert "are told apart 4 times in 5 where only they are compared (5% level), and less often among many" in text


def priced(one: CellSummary, tokens: float | None) -> CellSummary:
    spent = one.tokens_per_question.model_copy(update={"input": tokens, "output": None if tokens is None else 0.0})
    return one.model_copy(update={"tokens_per_question": spent})


def missing(records: Sequence[RunRecord]) -> list[RunRecord]:
    """Of the last ten questions, six are answered without having been shown the evidence."""
    late = set(IDS[54:])
    shown = []
    for record in records:
        if record.question_id in late and record.answer is not None:
            answer = replace(record.answer, retrieved_ids=("d2",), used_ids=("d2",), cited_ids=())
            hits = tuple(replace(hit, passage_id="d2", doc_id="d2") for hit in record.retrievals[0].hits)
            record = replace(record, answer=answer, retrievals=(replace(record.retrievals[0], hits=hits),))
        shown.append(record)
    return shown
