"""Give ragas our models, import it when first needed, and identify a judge: what tells its verdicts from another's.

ragas' calls go through our gate: every one is metered, cached, repaired once, and kept. Its embeddings go through our
embedder, and every vector is noted, because we work out the value ourselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import numpy as np
from pydantic import BaseModel

from arena.config import fingerprint
from arena.errors import ConfigError, ModelCallError, UserError
from arena.judges.ragas_metrics import PROTOCOLS, JudgeProtocol
from arena.judges.reading import JudgeReply
from arena.judges.subject import NEEDS
from arena.llm.ledger import Ledger
from arena.protocols import Embedder, Message, Vectors
from arena.types import JudgeMetric

S = TypeVar("S", bound=BaseModel)

MOST_ASKINGS = 8
"""Samples of one prompt that a repeat of a judgement has to itself; ragas asks five times at most."""


class GateLLM:
    """What ragas takes for its language model, during one judgement. `asked`: all that was asked, in order.

    The prompts are ragas' own, to the letter. A prompt asked once more gets another sample, so that the reply cache
    does not repeat what could not be used. A call without a usable reply raises, and ragas' own retries of it ask
    nobody; with `stand_in` (fields of a reply) ragas is handed that instead, so that it goes on to what can be judged.
    """

    def __init__(
        self, ledger: Ledger, role: str, *, first_sample: int = 0, stand_in: Mapping[str, Any] | None = None
    ) -> None:
        self.asked: list[JudgeReply] = []
        self._ledger = ledger
        self._role = role
        self._first_sample = first_sample
        self._stand_in = stand_in
        self._askings: Counter[str] = Counter()
        self._failed: dict[str, ModelCallError] = {}
        self._stopped_by: UserError | None = None

    async def agenerate(self, prompt: str, response_model: type[S]) -> S:
        self.check()
        if prompt in self._failed:
            raise self._failed[prompt]
        sample = self._first_sample + self._askings[prompt]
        self._askings[prompt] += 1
        try:
            reply = await self._ledger.ask(
                (Message("user", prompt),), response_model, role=self._role, sample=sample, form_stated=True
            )
        except ModelCallError as error:
            self.asked.append(JudgeReply(prompt, None, str(error)))
            if self._stand_in is not None:
                return response_model.model_construct(**self._stand_in)
            self._failed[prompt] = error
            raise
        except UserError as error:
            self._stopped_by = error
            raise
        self.asked.append(JudgeReply(prompt, reply.model_dump()))
        return reply

    def generate(self, prompt: str, response_model: type[S]) -> S:
        """Part of ragas' interface; never called by what only asks asynchronously."""
        raise TypeError("the gate is asked asynchronously: use agenerate")

    def check(self) -> None:
        """Raise what ends the run, if anything did: ragas may have taken it for a failed call."""
        if self._stopped_by is not None:
            raise self._stopped_by


class NotedEmbedder:
    """What ragas takes for its embedding model, during one judgement.

    Every text is embedded as a query: answers and questions are compared with each other, and no side of them is the
    passage.
    """

    def __init__(self, embedder: Embedder, turn: anyio.CapacityLimiter) -> None:
        """`turn` lets one thread at a time embed."""
        self._embedder = embedder
        self._turn = turn
        self._noted: dict[str, Vectors] = {}

    async def aembed_texts(self, texts: Sequence[str], **kwargs: Any) -> list[list[float]]:
        found = await anyio.to_thread.run_sync(self._embedder.embed_queries, list(texts), limiter=self._turn)
        self._noted.update(zip(texts, found.dense, strict=True))
        return [[float(number) for number in row] for row in found.dense]

    async def aembed_text(self, text: str, **kwargs: Any) -> list[float]:
        return (await self.aembed_texts([text]))[0]

    def embed_texts(self, texts: Sequence[str], **kwargs: Any) -> list[list[float]]:
        """Part of ragas' interface; never called by what only asks asynchronously."""
        raise TypeError("the embedder is asked asynchronously: use aembed_texts")

    def embed_text(self, text: str, **kwargs: Any) -> list[float]:
        """Part of ragas' interface; never called by what only asks asynchronously."""
        raise TypeError("the embedder is asked asynchronously: use aembed_text")

    def similarity(self, one: str, other: str) -> float | None:
        """Cosine of two texts that were embedded, in [0, 1]: below 0 counts as 0. None = one of them was not."""
        if one not in self._noted or other not in self._noted:
            return None
        return min(1.0, max(0.0, float(np.dot(self._noted[one], self._noted[other]))))


class Unasked:
    """Stands for a language model or an embedder where only ragas' prompts are wanted."""


def ragas_metric(
    protocol: JudgeProtocol, llm: GateLLM | Unasked, embedder: NotedEmbedder | Unasked | None = None
) -> Any:
    """The metric of ragas, asking `llm` and `embedder`, taken for its own kinds."""
    from ragas.embeddings.base import BaseRagasEmbedding
    from ragas.llms.base import InstructorBaseRagasLLM
    from ragas.metrics import collections

    InstructorBaseRagasLLM.register(GateLLM)
    BaseRagasEmbedding.register(NotedEmbedder)
    for base in (InstructorBaseRagasLLM, BaseRagasEmbedding):
        base.register(Unasked)
    embeddings = {"embeddings": embedder} if embedder else {}
    return getattr(collections, protocol.ragas_name)(llm=llm, **embeddings, **protocol.options)


READING_VERSION = 1
"""Raised with every change of how a verdict is worked out from what the judge said."""


def judge_shas(
    model: Mapping[str, Any], metrics: Sequence[JudgeMetric], embedder: Embedder | None = None
) -> dict[JudgeMetric, str]:
    """Metric -> the `judge_sha` of verdicts by it. Loads ragas, whose prompts are a part of it, and asks nobody.

    Args:
        model: all about the judge's language model that can change a reply, as plain JSON values.
        metrics: what it is asked by.
        embedder: for the metrics that compare texts by their vectors.

    Raises:
        ConfigError: a metric needs an embedder and there is none.
    """
    lacking = [metric for metric in metrics if NEEDS[metric].embedder and embedder is None]
    if lacking:
        raise ConfigError(f"judge.metrics {', '.join(lacking)} compare texts by an embedding model, and there is none")
    return {metric: _sha(model, PROTOCOLS[metric], embedder if NEEDS[metric].embedder else None) for metric in metrics}


def _sha(model: Mapping[str, Any], protocol: JudgeProtocol, embedder: Embedder | None) -> str:
    metric = ragas_metric(protocol, Unasked(), Unasked() if embedder else None)
    wording = [
        {
            "instruction": prompt.instruction,
            "examples": [[one.model_dump() for one in example] for example in prompt.examples],
            "form": prompt.output_model.model_json_schema(),
        }
        for prompt in (getattr(metric, name) for name in protocol.prompts)
    ]
    return fingerprint(
        "judge",
        {
            "metric": protocol.metric,
            "model": dict(model),
            "embedder": dict(embedder.identity) if embedder else None,
            "ragas": version("ragas"),
            "prompts": wording,
            "options": dict(protocol.options),
            "reading": READING_VERSION,
        },
    )
