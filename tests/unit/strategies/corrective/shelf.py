"""Two fixed shelves of passages, and one question through the graph of Corrective RAG."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import anyio

from arena.errors import ModelCallError
from arena.protocols import Evaluator, RetrievalSettings, Tools
from arena.types import Attempt, Decision, Hit, Passage, Retrieval, RetrievalRequest, Task
from strategies.corrective import CORRECTIVE, CorrectiveParams
from tests.scripted_writer import ScriptedWriter, Verdict

QUESTION = "Who governs {Tammerhold}?"
SETTINGS = RetrievalSettings("dense", k=10)


def passage(name: str, text: str, title: str = "T") -> Passage:
    return Passage(name, name, title, text, 0, len(text))


@dataclass
class Shelf:
    """Brings the same passages for every query, and notes what was asked."""

    passages: Sequence[Passage] = ()
    asked: list[RetrievalRequest] = field(default_factory=list)

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        self.asked.append(request)
        hits = (Hit(p.passage_id, p.doc_id, rank, 1.0 / rank) for rank, p in enumerate(self.passages, 1))
        return Retrieval(request, tuple(hits)[: request.k])

    def passage(self, passage_id: str) -> Passage:
        return next(p for p in self.passages if p.passage_id == passage_id)


@dataclass
class WordEvaluator:
    """A trained evaluator that finds, in each text, the score a test has written for one of its words."""

    scores: Mapping[str, float]
    asked: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    @property
    def identity(self) -> Mapping[str, str | int]:
        return {"model": "words"}

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        self.asked.append((question, tuple(texts)))
        return [next((s for word, s in self.scores.items() if word in text), -1.0) for text in texts]


def shown_text(prompt: str) -> str:
    """The passage that a judgement's prompt shows."""
    return next(line for line in prompt.splitlines() if line.startswith("[1]"))


def by_word(labels: Mapping[str, str | Mapping[str, float] | None], otherwise: str) -> Verdict:
    """Judge by the first word of `labels` that is in the passage; an exception's name raises it."""

    def verdict(role: str, prompt: str, allowed: Sequence[str]) -> str | Mapping[str, float] | None:
        for word, label in labels.items():
            if word in shown_text(prompt):
                if label == "broken":
                    raise ModelCallError(f"{role}: HTTP 500")
                return label
        return otherwise

    return verdict


def keywords(said: str, answer: str = "Mirelle Ostrand [1]") -> Callable[[str, str], str]:
    """Writes `said` when asked for keywords, else `answer`."""
    return lambda role, prompt: said if role == "rewrite" else answer


@dataclass
class Trial:
    """One attempt and all that was asked on the way."""

    attempt: Attempt
    writer: ScriptedWriter
    index: Shelf
    external: Shelf

    @property
    def prompt(self) -> str:
        (prompt,) = self.writer.prompts("generate")
        return prompt

    def decisions(self, node: str) -> list[Decision]:
        return [decision for decision in self.attempt.decisions if decision.node == node]

    def choice(self, node: str) -> str:
        (decision,) = self.decisions(node)
        return decision.choice


def attempt(
    passages: Sequence[Passage],
    verdict: Verdict | None = None,
    *,
    found: Sequence[Passage] = (),
    write: Callable[[str, str], str] | None = None,
    trained: Evaluator | None = None,
    question: str = QUESTION,
    **params: object,
) -> Trial:
    """`QUESTION` through corrective under `params`; evaluator `labels` where they do not say."""
    writer = ScriptedWriter(text=write or keywords("Tammerhold, governor"))
    if verdict is not None:
        writer.verdict = verdict
    index, external = Shelf(passages), Shelf(found)
    settings = CorrectiveParams.model_validate({"evaluator": "labels"} | params)
    tools = Tools(index, SETTINGS, writer, None if settings.external == "off" else external, trained)
    return Trial(anyio.run(CORRECTIVE.build(settings).attempt, Task(question), tools), writer, index, external)
