"""ragas, loaded when it is first needed and kept quiet."""

from __future__ import annotations

from typing import Any

from arena.judges.gate import GateLLM
from arena.judges.protocol import JudgeProtocol
from arena.judges.vectors import NotedEmbedder


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
