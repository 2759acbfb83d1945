"""The settings of Self-RAG, each with its source, and its arithmetic (paper section 3.3 and appendix A.3).

All three critiques are one formula: the expected value of a label, over the labels of its group alone. A hard label is
a distribution with all weight on it, so labels without probabilities need no formula of their own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from arena.types import AnswerStyle
from strategies.base import CALIBRATED, CalibratedParams

RELEVANCE = {"yes": 1.0, "no": 0.0}
SUPPORT = {"fully": 1.0, "partially": 0.5, "none": 0.0}
UTILITY = {"1": -1.0, "2": -0.5, "3": 0.0, "4": 0.5, "5": 1.0}


def expected(probabilities: Mapping[str, float], values: Mapping[str, float]) -> float:
    """Sum of value x probability over the labels of `values`, renormalised over them.

    0 when none of them has any probability: a critique that could not be read adds nothing, as in the released code
    for a reflection token that never appears.
    """
    total = sum(probabilities.get(label, 0.0) for label in values)
    if total <= 0.0:
        return 0.0
    return sum(value * (probabilities.get(label, 0.0) / total) for label, value in values.items())


def critique_score(relevance: float, support: float, utility: float, params: SelfRagParams) -> float:
    """S, in [-w_use, w_rel + w_sup + w_use]."""
    return params.w_rel * relevance + params.w_sup * support + params.w_use * utility


def sequence_probability(mean_logprob: float) -> float:
    """p(segment | ...), normalised for length: in (0, 1]."""
    return math.exp(min(mean_logprob, 0.0))


def retrieval_share(probabilities: Mapping[str, float]) -> float | None:
    """P(yes) / (P(yes) + P(no)): of probabilities, never of their logarithms. None when neither has any."""
    yes, no = probabilities.get("yes", 0.0), probabilities.get("no", 0.0)
    return yes / (yes + no) if yes + no > 0.0 else None


Mode = Literal["short", "closed_set", "long"]
PAPER_DELTA = 0.2
DEFAULT_DEPTH = 6
MAX_OPTIONS = 26


class SelfRagParams(CalibratedParams):
    """Settings of Self-RAG. SR = arXiv 2310.11511."""

    calibratable: ClassVar[tuple[str, ...]] = ("delta",)

    mode: Literal["auto", "short", "closed_set", "long"] = Field(
        default="auto",
        description="short: one segment, the best single candidate; closed_set: votes summed per option; long: segment "
        "beam search (SR section 3.3, appendix). auto: short for short answers, long for summaries.",
    )
    options: tuple[str, ...] = Field(
        default=(),
        max_length=MAX_OPTIONS,
        description="The options of closed_set: a list, as in options=[true,false]; in a config also joined by commas.",
    )
    w_rel: float = Field(default=1.0, ge=0.0, description="Weight of relevance (SR section 4.3: 1.0).")
    w_sup: float = Field(default=1.0, ge=0.0, description="Weight of support (SR section 4.3: 1.0).")
    w_use: float = Field(default=0.5, ge=0.0, description="Weight of utility (SR section 4.3: 0.5; code's CLI: 1.0).")
    delta: float = Field(
        default=PAPER_DELTA,
        ge=0.0,
        le=1.0,
        description="Retrieve where P(yes) / (P(yes) + P(no)) is above it (SR section 4.3: 0.2, and 0 for ASQA; tuned "
        "for the trained model, so calibrate it for any other). Means nothing at T0.",
    )
    beam_width: int = Field(
        default=2, ge=1, le=16, description="Texts kept per level in long form (SR section 4.3: 2)."
    )
    max_depth: int = Field(
        default=DEFAULT_DEPTH,
        ge=1,
        le=50,
        description="Segments of a long text at most (code: 7 with `<`, which is 6 levels).",
    )
    segment_tokens: int = Field(
        default=100,
        ge=1,
        description="Tokens of a segment at most, in long form and with the trained model, unless a prompted model "
        "thinks before it speaks (SR appendix: 100 in open QA, 50 in closed sets, 200 a segment in biographies).",
    )
    constraints: Literal["soft", "hard"] = Field(
        default="soft",
        description="soft: scores decide. hard: retrieve only where yes is the label itself, and drop candidates "
        "without support (SR section 3.3).",
    )
    accumulate: Literal["mean", "sum", "product"] = Field(
        default="mean",
        description="How segment scores make the score of a text; the paper does not say. A sum favours longer texts, "
        "and a product, which its code takes, goes wrong with negative scores.",
    )
    retrieval: Literal["adaptive", "always", "never"] = Field(
        default="adaptive", description="adaptive: the Retrieve decision; always, never: the paper's ablations."
    )
    judge: Literal["probabilities", "labels"] = Field(
        default="probabilities",
        description="What prompted judgements are read from: the labels' probabilities where the model gives them "
        "(T1), or the labels alone (T0).",
    )
    checkpoint: bool = Field(
        default=False,
        description="The model is the trained selfrag_llama2 behind a completions server (T2): its own prompt layout, "
        "reflection tokens read from the same pass; `judge` is ignored.",
    )
    sequence_term: bool = Field(
        default=True,
        description="Add exp(mean log-probability of the segment's tokens) to its score, where the model gives it (SR "
        "section 3.3; the code adds it on request only).",
    )

    @field_validator("options", mode="before")
    @classmethod
    def _read_options(cls, given: Any) -> Any:
        """`a,b` and lists of plain values as texts: YAML reads an unquoted true or 1 as something else."""
        if isinstance(given, str):
            given = given.split(",")
        if not isinstance(given, Sequence):
            return given
        return tuple(_plain(option) for option in given)

    @model_validator(mode="after")
    def _options_fit_the_mode(self) -> Self:
        if (self.mode == "closed_set") != bool(self.options):
            raise ValueError("mode closed_set needs options, and options need mode closed_set: set both or neither")
        distinct = {option.casefold() for option in self.options}
        if self.options and (len(self.options) < 2 or "" in distinct or len(distinct) < len(self.options)):
            raise ValueError(
                f"options must be at least two, each different and not empty, as in [true,false]; they are "
                f"{self.options!r}"
            )
        return self

    def mode_for(self, style: AnswerStyle) -> Mode:
        """The mode of a question that wants an answer of that style."""
        if self.mode == "auto":
            return "long" if style == "summary" else "short"
        return self.mode

    def depth_for(self, style: AnswerStyle) -> int:
        """Segments at most: one, except in long form."""
        return self.max_depth if self.mode_for(style) == "long" else 1

    def width_for(self, style: AnswerStyle) -> int:
        """Texts kept per level: the best single one, except in long form."""
        return self.beam_width if self.mode_for(style) == "long" else 1

    @property
    def depth_origin(self) -> str:
        """Where the limit of a long text comes from."""
        return "default" if self.max_depth == DEFAULT_DEPTH else "user"

    @property
    def delta_origin(self) -> str:
        """Where delta comes from: the paper's value is the paper's only with the paper's model."""
        if self.is_calibrated("delta"):
            return CALIBRATED
        if self.delta != PAPER_DELTA:
            return "user"
        return "paper" if self.checkpoint else "default"


def _plain(option: Any) -> Any:
    if isinstance(option, bool):
        return str(option).lower()
    return str(option).strip() if isinstance(option, str | int | float) else option
