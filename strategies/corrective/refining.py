"""Refinement as both sources of knowledge go through it: cut into strips, score each, keep the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.protocols import Tools
from arena.types import Passage
from strategies.corrective.evaluator import Mark, evaluate
from strategies.corrective.params import CorrectiveParams
from strategies.corrective.strips import Strip, decompose, strongest


@dataclass(frozen=True, slots=True)
class Refined:
    """What was kept of `total` strips, and the best of all that were scored (None: there was none)."""

    kept: tuple[Strip, ...]
    total: int
    best: tuple[Strip, Mark] | None

    @property
    def count(self) -> str:
        return f"{len(self.kept)} of {self.total} strips"


async def refine_strips(
    question: str,
    passages: Sequence[Passage],
    tools: Tools,
    params: CorrectiveParams,
    *,
    role: str,
    known: Mapping[str, Mark],
) -> Refined:
    """Decompose and filter. `known`: passage id -> its mark, which a strip that is the whole passage takes over."""
    strips = decompose(passages, params.decompose, params.strip_sentences)
    new = [strip for strip in strips if not _whole(strip) or strip.passage.passage_id not in known]
    fresh = iter(await evaluate(question, [strip.as_passage for strip in new], tools, params, role=role))
    asked = set(new)
    marks = [next(fresh) if strip in asked else known[strip.passage.passage_id] for strip in strips]
    kept = strongest(strips, [mark.score for mark in marks], params.thresholds.strips.value, params.max_strips)
    places = range(len(strips))
    first = max(places, key=lambda place: (marks[place].score, -place), default=None)
    return Refined(kept, len(strips), None if first is None else (strips[first], marks[first]))


def whole_passages(passages: Sequence[Passage]) -> tuple[Strip, ...]:
    """Each passage as the one strip it is without refinement."""
    return decompose(passages, "none", 1)


def _whole(strip: Strip) -> bool:
    return strip.text == strip.passage.text.strip()
