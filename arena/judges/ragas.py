"""Import ragas when it is first needed, keep it quiet, and identify a judge: what tells its verdicts from another's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from arena.config import fingerprint
from arena.errors import ConfigError
from arena.judges.ragas_gate import GateLLM, NotedEmbedder
from arena.judges.ragas_metrics import PROTOCOLS, JudgeProtocol
from arena.judges.subject import NEEDS
from arena.protocols import Embedder
from arena.types import JudgeMetric


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
