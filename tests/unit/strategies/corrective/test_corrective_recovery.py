"""With perfect judgements, which read gold through the test, the mechanism pays as the paper says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log

import anyio
import pytest

from arena.datasets.world import make_world
from arena.protocols import RetrievalSettings, Tools
from arena.types import Answer, Dataset, Document, Hit, Passage, Question, Retrieval, RetrievalRequest
from strategies import find_variant
from tests.scripted_writer import ScriptedWriter

SETTINGS = RetrievalSettings("words", k=5)


@dataclass
class WordIndex:
    """Ranks documents by the rare words they share with the query."""

    documents: Sequence[Document]

    @cached_property
    def bags(self) -> list[set[str]]:
        return [words(f"{one.title} {one.text}") for one in self.documents]

    @cached_property
    def rarity(self) -> dict[str, float]:
        held = Counter(word for bag in self.bags for word in bag)
        return {word: log(len(self.documents) / count) + 0.01 for word, count in held.items()}

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        asked = words(request.query)
        scores = [sum(self.rarity[word] for word in sorted(bag & asked)) for bag in self.bags]
        order = sorted(range(len(scores)), key=lambda place: (-scores[place], place))[: request.k]
        ids = [self.documents[place].doc_id for place in order if scores[place] > 0]
        return Retrieval(request, tuple(Hit(one, one, rank, 1.0 / rank) for rank, one in enumerate(ids, 1)))

    def passage(self, passage_id: str) -> Passage:
        found = next(one for one in self.documents if one.doc_id == passage_id)
        return Passage(passage_id, passage_id, found.title, found.text, 0, len(found.text))


def words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 3}


@pytest.fixture(scope="module")
def world() -> Dataset:
    return make_world(240, 80, 5)


def answer(entry: str, dataset: Dataset, question: Question, index: WordIndex, external: WordIndex | None) -> Answer:
    """`question` through a strategy whose judge knows the gold documents by their titles."""
    gold = {one.title for one in dataset.documents if one.doc_id in dataset.gold[question.question_id].supporting_ids}

    def judge(role: str, prompt: str, labels: Sequence[str]) -> str:
        return "relevant" if any(f"[1] {title}: " in prompt for title in gold) else "irrelevant"

    def write(role: str, prompt: str) -> str:
        names: list[str] = re.findall(r"[A-Z]\w+(?: (?:of )?[A-Z]\w+)*", question.text)[1:]
        return ", ".join(names) if role == "rewrite" else "An answer [1]"

    tools = Tools(index, SETTINGS, ScriptedWriter(text=write, verdict=judge), external)
    return anyio.run(find_variant(entry).build().attempt, question.task, tools).answer


def test_a_second_index_gives_back_what_was_removed_from_the_first(world: Dataset) -> None:
    """At least nine in ten of the questions whose passages the whole corpus would have shown."""
    asked = [one for one in world.questions if one.kind in ("single_hop", "multi_hop")][::2]
    gold = {one.question_id: set(world.gold[one.question_id].supporting_ids) for one in asked}
    removed = set().union(*gold.values())
    whole = WordIndex(world.documents)
    first = WordIndex([one for one in world.documents if one.doc_id not in removed])
    second = WordIndex([one for one in world.documents if one.doc_id in removed])
    findable, recovered, off = 0, 0, 0
    for question in asked:
        own = gold[question.question_id]
        shown = own & set(answer("vanilla", world, question, whole, None).used_ids)
        if not shown:
            continue
        findable += 1
        back = answer("corrective:evaluator=labels:external=second_index", world, question, first, second)
        recovered += shown <= set(back.used_ids) <= own
        off += bool(answer("corrective:evaluator=labels", world, question, first, None).used_ids)
    assert findable >= 20
    assert recovered >= 0.9 * findable
    assert off == 0
