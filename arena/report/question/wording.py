"""Records of one question as text, for the page and for the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from arena.report.figures import UNDEFINED
from arena.types import Decision, RetrievalRequest

_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
"""As in `dom.js`: C0 and C1, marks that set a direction, spaces of no width, halves of a pair."""


def figure_text(figure: float | None) -> str:
    """A score, a threshold or seconds to three digits that count, without an exponent; 0.5 stays 0.5."""
    if figure is None:
        return UNDEFINED
    return f"{Decimal(f'{figure:.3g}'):f}"


def request_text(request: RetrievalRequest) -> str:
    """How an index was asked, the query apart: `hybrid, k 5, depth 50, rrf 60`."""
    return ", ".join(_request_parts(request))


def changed_text(decision: Decision) -> str:
    """What a branch altered: `evidence, answer`, or `nothing`."""
    return ", ".join(decision.changed) or "nothing"


def _request_parts(request: RetrievalRequest) -> Iterator[str]:
    yield request.mode
    if request.k is not None:
        yield f"k {request.k}"
    if request.depth is not None:
        yield f"depth {request.depth}"
    if request.fusion is not None:
        yield request.fusion + (f" {request.rrf_k}" if request.rrf_k is not None else "")
    if request.lane_weights is not None:
        yield "weights " + " : ".join(map(figure_text, request.lane_weights))
    if request.threshold is not None:
        yield f"threshold {figure_text(request.threshold)}"


def visible_text(text: str) -> str:
    """`text` with its control characters by their code points, as in `<U+202E>`: none moves a cursor or turns a line.

    Line ends and tabs stay; so do the joiners of emoji and of some scripts.
    """
    return _CONTROL.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)
