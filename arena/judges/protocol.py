"""How one metric is asked of ragas, and how its value is worked out from what the judge said."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from arena.judges.gate import Asked
from arena.judges.reading import Reading
from arena.judges.subject import Subject
from arena.types import JudgeMetric

Similarity = Callable[[str, str], float | None]
"""Cosine of two texts, in [0, 1]; None = unknown."""


@dataclass(frozen=True, slots=True)
class JudgeProtocol:
    """One metric of ragas.

    `ragas_name` is its class in `ragas.metrics.collections`, `prompts` its attributes that can change a verdict,
    `arguments` what its `ascore` is given, `options` how it is made. `read` gives parts and value from all that was
    asked; ragas' own value is not used, because it leaves out what was not judged. `stand_in`: fields of the reply that
    ragas is handed for a call without one, where it would else give up on the rest (None = it goes on by itself).
    """

    metric: JudgeMetric
    ragas_name: str
    prompts: tuple[str, ...]
    arguments: Callable[[Subject], dict[str, Any]]
    read: Callable[[Sequence[Asked], Subject, Similarity], Reading]
    options: Mapping[str, Any] = field(default_factory=dict)
    stand_in: Mapping[str, Any] | None = None
