"""With a critic that makes no mistakes, Self-RAG's ranking puts a supporting passage first wherever there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import anyio

from arena.datasets import load_dataset
from arena.protocols import RetrievalSettings, Tools
from arena.types import Passage
from strategies import find_variant
from tests.lexical_index import LexicalIndex
from tests.scripted_writer import ScriptedWriter

SETTINGS = RetrievalSettings("lexical", k=5)


@dataclass
class Perfect:
    """Knows which of the passages that were brought support the answer."""

    brought: Sequence[Passage]
    supporting: Sequence[str]

    def verdict(self, role: str, prompt: str, labels: Sequence[str]) -> str:
        if role in ("judge_relevance", "judge_support"):
            (shown,) = (one for one in self.brought if " ".join(one.text.split()) in prompt)
            return labels[0] if shown.doc_id in self.supporting else labels[-1]
        return labels[0]


async def first_places() -> tuple[list[bool], list[bool], list[bool]]:
    """For each question: whether the retriever's first passage supports, Self-RAG's does, any of the five does."""
    world = load_dataset("world")
    index, strategy = LexicalIndex(world.documents), find_variant("self_rag").build()
    retrieved, ranked, findable = [], [], []
    for question in world.questions:
        supporting = world.gold[question.question_id].supporting_ids
        if question.kind not in ("single_hop", "multi_hop"):
            continue
        hits = (await index.retrieve(SETTINGS.request(question.text))).hits
        critic = Perfect([index.passage(hit.passage_id) for hit in hits], supporting)
        tools = Tools(index, SETTINGS, ScriptedWriter(verdict=critic.verdict))
        answer = (await strategy.attempt(question.task, tools)).answer
        retrieved.append(hits[0].doc_id in supporting)
        ranked.append(answer.used_ids[0] in supporting)
        findable.append(any(hit.doc_id in supporting for hit in hits))
    return retrieved, ranked, findable


def test_a_supporting_passage_comes_first_at_least_as_often_as_the_retriever_puts_it_there() -> None:
    retrieved, ranked, findable = anyio.run(first_places)
    assert ranked == findable
    assert sum(ranked) > sum(retrieved) > 0
