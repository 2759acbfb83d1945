"""Metrics at a cut, cell by cell: a shorter list is a shorter list, and only a cell's own k ends a metric."""

from __future__ import annotations

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, RR, P, Qrel, R, ScoredDoc, Success, nDCG

from arena.metrics import METRICS, Case, score_record
from arena.metrics import case as reasons
from arena.types import (
    IMPORTED_MODE,
    Answer,
    Cell,
    Gold,
    Hit,
    Question,
    Retrieval,
    RetrievalRequest,
    RunRecord,
    Scalar,
    Score,
)
from experiments.execution.foreign import AnswerLine, foreign_record

THEIRS = {
    "recall_at_5": R @ 5,
    "recall_at_10": R @ 10,
    "hit_at_5": Success @ 5,
    "precision_at_5": P @ 5,
    "ndcg_at_10": nDCG @ 10,
    "mrr": RR,
    "map": AP,
}
CUTS = {name: int(name.rpartition("_")[2]) for name in THEIRS if "_at_" in name}
POOL = [f"d{number}" for number in range(24)]
LISTS = st.lists(st.sampled_from(POOL), max_size=20, unique=True)
GOLD = st.lists(st.sampled_from(POOL), min_size=1, max_size=6, unique=True)
QUESTIONS = st.lists(st.tuples(LISTS, GOLD), min_size=1, max_size=5)
QUESTION = Question("q1", "Who founded Tolm?", "multi_hop")


def own(ranked: list[str], params: dict[str, Scalar], asked: int) -> RunRecord:
    hits = tuple(Hit(one, one, rank, 1.0 / rank) for rank, one in enumerate(ranked, start=1))
    retrievals = (Retrieval(RetrievalRequest(QUESTION.text, "dense", asked), hits),) if ranked else ()
    answer = Answer("Brandt", abstained=False, retrieved_ids=tuple(ranked), used_ids=tuple(ranked))
    return RunRecord(Cell("vanilla", "dense", "fake:", params), "q1", "answered", answer, None, retrievals, (), (), 1.0)


def imported(ranked: list[str], params: dict[str, Scalar]) -> RunRecord:
    line = AnswerLine.model_validate({"question_id": "q1", "answer": "Brandt", "retrieved_ids": ranked, **params})
    return foreign_record(Cell("theirs", IMPORTED_MODE, "unstated", params), QUESTION, line, {})


def scores(record: RunRecord, gold: list[str]) -> dict[str, Score]:
    known = Gold("q1", ("Brandt",), tuple(gold))
    return {one.metric: one for one in score_record(Case(record, QUESTION, known, {}))}


def theirs(ranked: list[str], gold: list[str]) -> dict[str, float]:
    """By ir-measures, where a question without a list counts 0."""
    qrels = [Qrel("q1", one, 1) for one in gold]
    run = [ScoredDoc("q1", one, float(-rank)) for rank, one in enumerate(ranked)]
    found = ir_measures.calc_aggregate(list(THEIRS.values()), qrels, run)
    return {name: found[measure] for name, measure in THEIRS.items()}


def test_every_metric_at_a_cut_is_held_against_ir_measures() -> None:
    assert {name for name in METRICS if "_at_" in name} == set(CUTS)


@given(LISTS, GOLD, st.sampled_from(["own", "plugin", "imported"]))
def test_lists_of_any_length_score_as_in_ir_measures(ranked: list[str], gold: list[str], kind: str) -> None:
    """An own cell that asks for enough, a plugin that does not say how much and an imported system: all alike."""
    record = {
        "own": own(ranked, {"k": 20}, asked=20),
        "plugin": own(ranked, {}, asked=max(1, len(ranked))),
        "imported": imported(ranked, {}),
    }[kind]
    found = {name: scores(record, gold)[name] for name in THEIRS}
    assert {name: one.value for name, one in found.items()} == pytest.approx(theirs(ranked, gold), abs=1e-9)


@given(QUESTIONS, st.integers(1, 20), st.sampled_from(["own", "imported"]))
def test_a_cell_has_a_cut_for_all_of_its_questions_or_for_none(
    questions: list[tuple[list[str], list[str]]], k: int, kind: str
) -> None:
    for ranked, gold in questions:
        first = ranked[:k]
        record = own(first, {"k": k}, asked=k) if kind == "own" else imported(first, {"k": k})
        found, wanted = scores(record, gold), theirs(first, gold)
        for name, cut in CUTS.items():
            if cut > k:
                assert (found[name].value, found[name].reason) == (None, reasons.CUT_BEYOND_K)
            else:
                assert found[name].value == pytest.approx(wanted[name], abs=1e-9)


def test_what_an_imported_system_was_shown_alone_is_ranked_behind_the_rest() -> None:
    line = AnswerLine(question_id="q1", answer="Brandt", retrieved_ids=("d1",), scores=(3.0,), used_ids=("d2", "d1"))
    (retrieval,) = foreign_record(Cell("theirs", IMPORTED_MODE, None), QUESTION, line, {}).retrievals
    assert [one.doc_id for one in retrieval.hits] == ["d1", "d2"]
    assert retrieval.request.k is None
