from __future__ import annotations

from dataclasses import replace

import pytest

from arena.metrics import METRICS, Case, is_undefined, score_record
from arena.metrics import case as reasons
from arena.types import (
    GOLD_MODE,
    NO_RETRIEVAL_MODE,
    Answer,
    Cell,
    Failure,
    Gold,
    Hit,
    Question,
    Retrieval,
    RetrievalRequest,
    RunRecord,
    Scalar,
    Score,
)

USED = ("retrieval_recall", "retrieval_precision", "full_recall")
RANKED = ("recall_at_5", "hit_at_5", "precision_at_5", "mrr")
WORDS = ("answer_em", "answer_f1", "answer_contains")
DEEP = ("recall_at_10", "ndcg_at_10")

QUESTION = Question("q1", "Who founded Tolm?", "multi_hop", hops=2)
GOLD = Gold("q1", ("Ilse Brandt", "Brandt"), ("a", "b"))


def retrieval(*doc_ids: str, k: int = 5) -> Retrieval:
    hits = tuple(Hit(f"{doc_id}#{rank}", doc_id, rank, 1.0 / rank) for rank, doc_id in enumerate(doc_ids, start=1))
    return Retrieval(RetrievalRequest("Who founded Tolm?", "dense", k), hits)


ANSWERED = RunRecord(
    cell=Cell("vanilla", "dense", "fake:"),
    question_id="q1",
    outcome="answered",
    answer=Answer("Ilse Brandt of Tolm", abstained=False, used_ids=("x", "a")),
    failure=None,
    retrievals=(retrieval("x", "a", "a", "y"), retrieval("b")),
    calls=(),
    decisions=(),
    wall_seconds=1.0,
)
FAILED = replace(
    ANSWERED,
    outcome="failed",
    answer=None,
    failure=Failure("model", "Timeout", "no reply"),
    retrievals=(retrieval("a"),),
)


def scores(record: RunRecord, question: Question = QUESTION, gold: Gold = GOLD) -> dict[str, Score]:
    return {score.metric: score for score in score_record(Case(record, question, gold, {}))}


def values(record: RunRecord, names: tuple[str, ...]) -> list[float | None]:
    found = scores(record)
    return [found[name].value for name in names]


def why(record: RunRecord, names: tuple[str, ...], question: Question = QUESTION, gold: Gold = GOLD) -> set[str | None]:
    """The reasons given by metrics that must all be without a value."""
    found = scores(record, question, gold)
    assert all(found[name].value is None for name in names)
    return {found[name].reason for name in names}


def test_scores_come_in_the_order_of_the_table() -> None:
    assert [score.metric for score in score_record(Case(ANSWERED, QUESTION, GOLD, {}))] == list(METRICS)
    assert all(spec.name == name and spec.summary for name, spec in METRICS.items())


def test_metrics_of_zero_or_one_say_so() -> None:
    binary = {name for name, spec in METRICS.items() if spec.binary}
    assert binary == {
        *("full_recall", "hit_at_5", "answer_em", "answer_contains", "support_em", "uncited_statements"),
        *(f"hop_{number}_recall" for number in (1, 2, 3, 4)),
        *("answer_rate", "correct_abstention", "false_abstention", "unsupported_claim"),
    }


def test_metrics_of_faults_and_stand_ins_for_a_judge_say_so() -> None:
    faults = {name for name, spec in METRICS.items() if not spec.higher_is_better}
    assert faults == {"uncited_statements", "false_abstention", "unsupported_claim"}
    proxies = {name: spec.proxy_for for name, spec in METRICS.items() if spec.proxy_for}
    assert proxies == {"lexical_faithfulness": "faithfulness"}
    assert all(name.startswith("lexical") for name in proxies)


def test_a_sound_record_has_every_value_and_no_reason() -> None:
    assert values(ANSWERED, USED) == [0.5, 0.5, 0.0]
    assert values(ANSWERED, RANKED) == [0.5, 1.0, 0.2, 0.5]
    assert values(ANSWERED, WORDS) == [0.0, pytest.approx(2 / 3), 1.0]
    assert why(replace(ANSWERED, cell=replace(ANSWERED.cell, params={"k": 5})), DEEP) == {reasons.CUT_BEYOND_K}


def test_a_deeper_cut_is_scored_where_the_cell_asks_for_it_or_does_not_say() -> None:
    deep = replace(ANSWERED, retrievals=(retrieval("x", "a", k=2),))
    assert values(deep, ("recall_at_10",)) == [0.5]
    assert values(replace(deep, cell=replace(deep.cell, params={"k": 10})), ("recall_at_10",)) == [0.5]


def test_what_was_used_is_not_what_was_ranked() -> None:
    narrowed = replace(ANSWERED, answer=Answer("Brandt", abstained=False, used_ids=("a", "b")))
    assert values(narrowed, USED) == [1.0, 1.0, 1.0]
    assert values(narrowed, RANKED) == values(ANSWERED, RANKED)


def test_showing_nothing_scores_zero() -> None:
    emptied = replace(ANSWERED, answer=Answer("Brandt", abstained=False))
    assert values(emptied, USED) == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("params", [{}, {"k": 5}])
def test_a_strategy_that_could_retrieve_and_chose_not_to_scores_zero(params: dict[str, Scalar]) -> None:
    cell = Cell("adaptive", "dense", "fake:", params)
    idle = replace(ANSWERED, cell=cell, answer=Answer("Brandt", abstained=False), retrievals=())
    assert values(idle, USED) == [0.0, 0.0, 0.0]
    assert values(idle, RANKED) == [0.0, 0.0, 0.0, 0.0]


def test_an_empty_ranking_scores_zero() -> None:
    assert values(replace(ANSWERED, retrievals=(retrieval(),)), RANKED) == [0.0, 0.0, 0.0, 0.0]


def test_a_cut_deeper_than_was_asked_for_is_undefined() -> None:
    cell = Cell("vanilla", "dense", "fake:", {"k": 3})
    shallow = replace(ANSWERED, cell=cell, retrievals=(retrieval("x", "a", k=3),))
    assert why(shallow, RANKED[:3]) == {reasons.CUT_BEYOND_K}
    assert values(shallow, ("mrr",)) == [0.5]


def test_a_failure_in_a_shallow_cell_is_undefined_below_its_cut_like_the_rest() -> None:
    cell = Cell("vanilla", "dense", "fake:", {"k": 3})
    for record in (FAILED, replace(FAILED, retrievals=()), ANSWERED, replace(ANSWERED, retrievals=())):
        assert why(replace(record, cell=cell), RANKED[:3]) == {reasons.CUT_BEYOND_K}
    assert why(replace(FAILED, cell=cell), ("mrr", *USED)) == {reasons.FAILED}
    other = replace(GOLD, supporting_ids=())
    assert why(replace(FAILED, cell=cell), RANKED, gold=other) == {reasons.NO_GOLD}


def test_a_cell_that_asks_for_enough_is_scored_whatever_a_record_asked_for() -> None:
    cell = Cell("vanilla", "dense", "fake:", {"k": 10})
    modest = replace(ANSWERED, cell=cell, retrievals=(retrieval("x", "a", k=2),))
    assert values(modest, RANKED[:3]) == [0.5, 1.0, 0.2]


def test_a_closed_book_has_no_retrieval_scores() -> None:
    cell = Cell("closed_book", NO_RETRIEVAL_MODE, "fake:")
    closed = replace(ANSWERED, cell=cell, answer=Answer("Brandt", abstained=False), retrievals=())
    assert why(closed, (*USED, *RANKED)) == {reasons.NO_RETRIEVAL}
    assert values(closed, WORDS) == [1.0, 1.0, 1.0]
    assert why(replace(FAILED, cell=cell, retrievals=()), (*USED, *RANKED)) == {reasons.NO_RETRIEVAL}


def test_an_oracle_ranks_nothing() -> None:
    oracle = replace(
        ANSWERED,
        cell=Cell("oracle", GOLD_MODE, "fake:"),
        answer=Answer("Brandt", abstained=False, used_ids=("a", "b")),
        retrievals=(retrieval("a", "b"),),
    )
    assert values(oracle, USED) == [1.0, 1.0, 1.0]
    assert why(oracle, RANKED) == {reasons.GOLD_BY_CONSTRUCTION}


def test_retrieval_alone_has_no_answer() -> None:
    silent = replace(
        ANSWERED, cell=Cell("retrieval_only", "dense", None), answer=Answer(None, abstained=False, used_ids=("a",))
    )
    assert why(silent, WORDS) == {reasons.NO_ANSWER_BY_DESIGN}
    assert values(silent, USED) == [0.5, 1.0, 0.0]
    assert why(replace(FAILED, cell=silent.cell), WORDS) == {reasons.NO_ANSWER_BY_DESIGN}


@pytest.mark.parametrize("text", ["I do not know.", "Brandt", "", None])
def test_an_abstention_is_no_right_answer(text: str | None) -> None:
    abstained = replace(ANSWERED, outcome="abstained", answer=Answer(text, abstained=True, used_ids=("a",)))
    assert values(abstained, WORDS) == [0.0, 0.0, 0.0]
    assert values(abstained, USED) == [0.5, 1.0, 0.0]


def test_a_failure_is_missing_not_zero() -> None:
    assert why(FAILED, (*USED, *RANKED, *WORDS)) == {reasons.FAILED}


@pytest.mark.parametrize("record", [ANSWERED, FAILED], ids=["answered", "failed"])
def test_what_a_question_cannot_have_is_undefined_whatever_happened(record: RunRecord) -> None:
    without_support = replace(GOLD, supporting_ids=())
    assert why(record, (*USED, *RANKED), gold=without_support) == {reasons.NO_GOLD}
    unanswerable = replace(GOLD, answers=(), answerable=False)
    assert why(record, WORDS, replace(QUESTION, kind="unanswerable"), unanswerable) == {reasons.UNANSWERABLE}
    assert why(record, WORDS, replace(QUESTION, kind="summary")) == {reasons.NOT_A_SPAN}


def test_reasons_are_undefined_or_missing_never_both() -> None:
    codes = {value for name, value in vars(reasons).items() if name.isupper() and isinstance(value, str)}
    missing = {
        reasons.FAILED,
        reasons.NOT_REPORTED,
        reasons.TEXT_UNKNOWN,
        reasons.NOT_JUDGED,
        reasons.PARTLY_JUDGED,
        reasons.JUDGE_FAILED,
    }
    assert {code for code in codes if is_undefined(code)} == reasons.UNDEFINED == codes - missing
    assert not is_undefined("of_a_later_version")
    assert not is_undefined(None)
