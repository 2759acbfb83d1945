"""How candidates are reranked, and which are dropped: a threshold belongs to the reranker it was made for.

Work that belongs to a passage, and not to the query it was done for, is done once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from arena.errors import ConfigError
from arena.protocols import Reranker

DTYPES = ("float32", "float16", "bfloat16")
DEFAULT: Literal["default"] = "default"


@dataclass(frozen=True, slots=True)
class CalibratedThreshold:
    """A threshold that was worked out on the scores of one reranker, named as in that one's identity."""

    value: float
    reranker: str


Threshold = float | CalibratedThreshold | Literal["default"]
"""`default`: the reranker's own, if its scale is known to want one. A plain number is explicit: it holds for whatever
reranker is set (0 drops nothing of a sigmoid's scores). A calibrated one holds for its own reranker only."""


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """Everything that may be chosen about a reranker; None is the model's own or the machine's best.

    `model`: `late_interaction`, `bge-reranker-v2-m3`, a folder with a cross-encoder, or ORG/NAME on the hub;
    `revision` is a branch, tag or commit there. `max_length`: tokens read of query and passage together.
    `batch_size`: pairs in one forward pass on one device, fewer where they are longer than 512 tokens. `devices`: as
    torch names them, one copy of the model on each; None = all GPUs, else the CPU. `trust_remote_code`: the model may
    run code that lies beside its weights, or be pickled. Raises `ConfigError` on values out of range.
    """

    model: str = "late_interaction"
    threshold: Threshold = DEFAULT
    max_length: int | None = None
    batch_size: int | None = None
    dtype: str | None = None
    devices: tuple[str, ...] | None = None
    revision: str | None = None
    trust_remote_code: bool = False

    def __post_init__(self) -> None:
        for name in ("max_length", "batch_size"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"rerank setting {name} must be at least 1, not {value!r}")
        if self.dtype is not None and self.dtype not in DTYPES:
            raise ConfigError(f"rerank setting dtype is one of {', '.join(DTYPES)}, not {self.dtype!r}")
        if self.devices is not None and not self.devices:
            raise ConfigError("rerank setting devices is empty: name at least one, or leave it out")
        threshold_from(self.threshold)


def threshold_from(value: object) -> Threshold:
    """`default`, a number as a float, or a calibrated threshold, checked.

    Raises `ConfigError` on anything else, a number that is not finite included.
    """
    if value == DEFAULT:
        return DEFAULT
    if isinstance(value, CalibratedThreshold):
        return CalibratedThreshold(_number(value.value, value), value.reranker)
    return _number(value, value)


def resolve_threshold(settings: RerankSettings, reranker: Reranker) -> float | None:
    """The score below which this reranker's candidates are dropped; None drops none.

    Raises `ConfigError`, naming both, for a threshold that was calibrated for another reranker.
    """
    threshold = threshold_from(settings.threshold)
    if isinstance(threshold, CalibratedThreshold):
        model = reranker.identity["model"]
        if threshold.reranker != model:
            raise ConfigError(
                f"threshold {threshold.value!r} was calibrated for reranker {threshold.reranker!r} and says nothing "
                f"about the scores of {model!r}: calibrate it for that one, use {threshold.reranker!r}, "
                "or set a plain number to insist"
            )
        return threshold.value
    return reranker.default_threshold if threshold == DEFAULT else threshold


def _number(value: object, given: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ConfigError(
            f"a rerank threshold is 'default', a finite number, or {{value: NUMBER, reranker: NAME}}, not {given!r}"
        )
    return float(value)


@runtime_checkable
class EncodesPassages(Protocol):
    """A reranker that encodes passages apart from queries, on first use, and keeps what it made."""

    @property
    def passage_seconds(self) -> float:
        """Seconds spent so far, inside `score`, on encoding passages; never falls."""
        ...


def seconds_on_passages(reranker: Reranker) -> float:
    """Seconds this reranker has spent so far on passages alone; 0 for one that reads pairs."""
    return reranker.passage_seconds if isinstance(reranker, EncodesPassages) else 0.0
