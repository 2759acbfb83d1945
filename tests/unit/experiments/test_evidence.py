from __future__ import annotations

import anyio
import pytest

from arena.errors import StrategyError
from arena.types import Dataset, RetrievalRequest
from experiments.evidence import GoldDocuments, NoEvidence

REQUEST = RetrievalRequest("anything", "gold", 1)


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
