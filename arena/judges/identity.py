"""What tells the verdicts of one judge from those of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from arena.config import fingerprint
from arena.errors import ConfigError
from arena.judges.loading import Unasked, ragas_metric
from arena.judges.protocol import JudgeProtocol
from arena.judges.subject import NEEDS
from arena.judges.table import PROTOCOLS
from arena.protocols import Embedder
from arena.types import JudgeMetric

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
