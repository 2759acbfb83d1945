"""The trained judges of passages that contestants ask for by their settings, each opened once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from arena.errors import ConfigError
from arena.protocols import Evaluator
from experiments.terminal.progress import Reporter
from indexing.rerank.opening import LATE_INTERACTION
from strategies import Variant

if TYPE_CHECKING:
    from indexing.embedding import IndexEmbedder
    from indexing.rerank import RerankSettings

EvaluatorKey = tuple[str, str]
"""What kind of evaluator, and which model it is: `t5` and a folder, or `cross_encoder` and a reranker's name."""


def evaluator_key(variant: Variant, run_reranker: str) -> EvaluatorKey | None:
    """Which trained evaluator a variant wants; None = none. `run_reranker` is what `rerank.model` says.

    Raises `ConfigError` for a reranker that reads no text but that of the index.
    """
    wanted = variant.trained
    if wanted is None or wanted.role != "evaluator":
        return None
    if wanted.kind == "t5":
        return ("t5", wanted.model or "")
    model = wanted.model or run_reranker
    if model == LATE_INTERACTION:
        raise ConfigError(
            f"{variant.spec.name}: late_interaction is no cross-encoder and cannot judge: set its reranker, or "
            "rerank.model, to bge-reranker-v2-m3 or another cross-encoder"
        )
    return ("cross_encoder", model)


def open_evaluators(
    variants: Sequence[Variant], rerank: RerankSettings, embedder: IndexEmbedder, weights_root: Path, reporter: Reporter
) -> Mapping[EvaluatorKey, Evaluator]:
    """Every evaluator that the variants want, on the devices of `rerank`."""
    keys = dict.fromkeys(key for one in variants if (key := evaluator_key(one, rerank.model)))
    return {key: _open(*key, rerank, embedder, weights_root, reporter) for key in keys}


def _open(
    kind: str, model: str, rerank: RerankSettings, embedder: IndexEmbedder, weights_root: Path, reporter: Reporter
) -> Evaluator:
    if kind == "t5":
        from indexing.rerank.opening import T5Evaluator

        return T5Evaluator(Path(model).expanduser(), devices=rerank.devices, batch_size=rerank.batch_size)
    from indexing.rerank import open_reranker
    from indexing.rerank.opening import RerankerEvaluator

    settings = rerank if model == rerank.model else replace(rerank, model=model, revision=None, max_length=None)
    with reporter.bytes(f"downloading {model}") as advance:
        progress = lambda done, total, label: advance(done, total or 0)  # noqa: E731
        return RerankerEvaluator(open_reranker(settings, embedder, weights_root, progress))
