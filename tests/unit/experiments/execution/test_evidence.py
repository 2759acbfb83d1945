from __future__ import annotations

import anyio
import pytest

from arena.datasets import load_dataset
from arena.errors import StrategyError
from arena.protocols import EvidenceSource
from arena.types import Dataset, RetrievalRequest
from experiments.execution.evidence import GoldAmongDistractors, GoldDocuments, NoEvidence

REQUEST = RetrievalRequest("anything", "gold", 1)


def given(source: EvidenceSource, question_id: str) -> list[str]:
    """The documents a question is given, in order."""
    return [hit.doc_id for hit in anyio.run(source.for_question(question_id).retrieve, REQUEST).hits]


def test_the_oracle_gets_all_gold_in_corpus_order_whatever_k_is(dataset: Dataset) -> None:
    source = GoldDocuments.of(dataset)
    for question_id, gold in dataset.gold.items():
        hits = anyio.run(source.for_question(question_id).retrieve, REQUEST).hits
        assert {hit.doc_id for hit in hits} == set(gold.supporting_ids)
        assert [hit.doc_id for hit in hits] == sorted(hit.doc_id for hit in hits)
        assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))


def test_one_questions_gold_is_out_of_anothers_reach(dataset: Dataset) -> None:
    with pytest.raises(KeyError):
        GoldDocuments.of(dataset).for_question("q2").passage("d4")


def test_a_strategy_that_declares_no_evidence_gets_none() -> None:
    retriever = NoEvidence().for_question("q1")
    with pytest.raises(StrategyError, match="evidence='none'"):
        anyio.run(retriever.retrieve, REQUEST)
    with pytest.raises(StrategyError, match="evidence='none'"):
        retriever.passage("d1")


def test_one_gold_document_is_missing_and_always_the_same(dataset: Dataset) -> None:
    fewer = GoldDocuments.of(dataset).minus_one()
    assert set(fewer.supporting) == {"q1", "q4"}
    for question_id in fewer.supporting:
        kept = given(fewer, question_id)
        assert set(kept) < set(dataset.gold[question_id].supporting_ids)
        assert len(kept) == len(dataset.gold[question_id].supporting_ids) - 1
        assert kept == given(GoldDocuments.of(dataset).minus_one(), question_id)


def test_every_place_of_the_chain_is_dropped_now_and_then() -> None:
    world = load_dataset("world")
    fewer = GoldDocuments.of(world).minus_one()
    places = set()
    for question_id, kept in fewer.supporting.items():
        chain = world.gold[question_id].hop_order
        if chain is not None and len(chain) == 2:
            places.add([doc_id in kept for doc_id in chain].index(False))
    assert places == {0, 1}


def test_distractors_stand_among_the_gold_and_their_places_tell_nothing() -> None:
    world = load_dataset("world")
    source = GoldAmongDistractors(world.documents, GoldDocuments.of(world), 8)
    first_gold = set()
    for question_id, gold in world.gold.items():
        if not gold.supporting_ids:
            continue
        shown = given(source, question_id)
        assert len(shown) == len(set(shown)) == len(gold.supporting_ids) + 8
        assert set(gold.supporting_ids) <= set(shown)
        assert shown == given(source, question_id)
        first_gold.add(min(shown.index(doc_id) for doc_id in gold.supporting_ids))
    assert first_gold >= {0, 1, 2, 3, 4}


def test_more_distractors_than_the_corpus_has_are_all_of_it(dataset: Dataset) -> None:
    source = GoldAmongDistractors(dataset.documents, GoldDocuments.of(dataset), 200)
    assert sorted(given(source, "q1")) == ["d1", "d2", "d3", "d4"]


def test_a_larger_wish_keeps_the_distractors_of_a_smaller_one(dataset: Dataset) -> None:
    few, more = (GoldAmongDistractors(dataset.documents, GoldDocuments.of(dataset), number) for number in (1, 2))
    assert set(given(few, "q1")) < set(given(more, "q1"))
