"""Evidence by stage, by hop and by claim, and when a record has no such score."""

from __future__ import annotations

from dataclasses import replace

from arena.metrics import METRICS, Case
from arena.metrics import case as reasons
from arena.types import GOLD_MODE, NO_RETRIEVAL_MODE, Answer, Cell, Claim, Gold, Question, RunRecord, Score
from tests.samples import answered, failed

STAGES = ("retrieved_recall", "retrieved_precision", "retrieval_recall", "retrieval_precision", "retrieval_f1")
SUPPORT = ("support_em", "support_f1")
HOPS = ("hop_1_recall", "hop_2_recall", "hop_3_recall", "hop_4_recall")

QUESTION = Question("q", "Who governs the town at the source of the Veyra?", "multi_hop", 3, "3hop1")
GOLD = Gold("q", ("Brandt",), ("a", "b", "c"), ("a", "b", "c"), claims=(Claim("one", ("a", "b")), Claim("two", ("c",))))
RECORD = replace(
    answered("q", "Brandt"), answer=Answer("Brandt", False, ("a", "x", "y", "c"), ("c", "a", "x"), ("a", "x"))
)


def score(name: str, record: RunRecord = RECORD, gold: Gold = GOLD) -> Score:
    return METRICS[name].score(Case(record, QUESTION, gold, {}))


def scores(*names: str, record: RunRecord = RECORD, gold: Gold = GOLD) -> list[float | str | None]:
    """Values, and reasons where there is none."""
    found = [score(name, record, gold) for name in names]
    return [one.reason if one.value is None else one.value for one in found]


def test_each_stage_has_its_own_recall_and_precision() -> None:
    assert scores(*STAGES) == [2 / 3, 0.5, 2 / 3, 2 / 3, 2 / 3]
    assert scores("citation_recall", "citation_precision") == [1 / 3, 0.5]
    assert scores(*SUPPORT) == [0.0, 2 / 3]
    whole = replace(RECORD, answer=Answer("Brandt", False, ("a", "b", "c"), ("c", "b", "a")))
    assert scores(*SUPPORT, record=whole) == [1.0, 1.0]


def test_hops_tell_which_link_is_missing() -> None:
    assert scores("hop_coverage", *HOPS) == [1 / 3, 1.0, 0.0, 1.0, reasons.FEWER_HOPS]


def test_without_an_order_of_hops_there_is_no_chain() -> None:
    unordered = replace(GOLD, hop_order=None)
    assert scores("hop_coverage", *HOPS, gold=unordered) == [reasons.NO_HOP_ORDER] * 5
    assert scores("hop_coverage", gold=replace(unordered, supporting_ids=())) == [reasons.NO_GOLD]


def test_half_of_the_claims_have_their_evidence() -> None:
    assert scores("evidence_availability") == [0.5]
    assert scores("evidence_availability", gold=replace(GOLD, claims=())) == [reasons.NO_CLAIMS]
    assert scores("evidence_availability", gold=replace(GOLD, claims=(Claim("bare", ()),))) == [reasons.NO_CLAIMS]


def test_no_citation_is_no_recall_and_no_precision() -> None:
    silent = replace(RECORD, answer=Answer("Brandt", False, ("a",), ("a",)))
    assert scores("citation_recall", "citation_precision", record=silent) == [0.0, reasons.NO_CITATIONS]


def test_an_abstention_cites_nothing_because_it_claims_nothing() -> None:
    abstained = answered("q", "I don't know", ("a",), abstained=True)
    assert scores("citation_recall", "citation_precision", record=abstained) == [reasons.ABSTAINED] * 2
    assert scores("retrieval_recall", "hop_1_recall", record=abstained) == [1 / 3, 1.0]


def test_a_failure_is_missing_where_a_sound_record_has_a_score() -> None:
    every = (*STAGES, *SUPPORT, "citation_recall", "citation_precision", "hop_coverage", "evidence_availability")
    assert scores(*every, *HOPS[:3], record=failed("q")) == [reasons.FAILED] * (len(every) + 3)
    assert scores(HOPS[3], record=failed("q")) == [reasons.FEWER_HOPS]


def test_a_closed_book_has_no_evidence_to_score() -> None:
    every = (*STAGES, *SUPPORT, "citation_recall", "citation_precision", "hop_coverage", "evidence_availability")
    cell = Cell("closed_book", NO_RETRIEVAL_MODE, "fake:")
    for record in (answered("q", "Brandt", of=cell), failed("q", of=cell)):
        assert scores(*every, record=record) == [reasons.NO_RETRIEVAL] * len(every)


def test_an_oracle_is_shown_its_gold_and_ranks_nothing() -> None:
    oracle = answered("q", "Brandt", ("a", "b", "c"), of=Cell("oracle", GOLD_MODE, "fake:", {"k": 10}))
    assert scores("retrieval_f1", "hop_coverage", "retrieved_recall", record=oracle) == [1.0, 1.0, 1.0]
    assert scores("map", "ndcg_at_10", record=oracle) == [reasons.GOLD_BY_CONSTRUCTION] * 2


def test_retrieval_alone_cites_nothing_by_design() -> None:
    cell = Cell("retrieval_only", "dense", None)
    silent = replace(answered("q", "", ("a",), of=cell), answer=Answer(None, False, ("a",), ("a",)))
    for record in (silent, failed("q", of=cell)):
        assert scores("citation_recall", record=record) == [reasons.NO_ANSWER_BY_DESIGN]
