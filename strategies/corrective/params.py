"""What of Corrective RAG can be set, each with its source, and the thresholds that follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from strategies.base import CALIBRATED, CalibratedParams, TrainedModel

EvaluatorName = Literal["labels", "probabilities", "cross_encoder", "t5"]
Preset = Literal["popqa", "pubhealth", "arc", "bio"]
Decomposition = Literal["sentences", "passages", "none"]
External = Literal["off", "second_index", "live"]

PAPER_UPPER_LOWER: Mapping[Preset, tuple[float, float]] = {
    "popqa": (0.59, -0.99),
    "pubhealth": (0.5, -0.91),
    "arc": (0.5, -0.91),
    "bio": (0.95, -0.91),
}
"""Tuned by the authors on the scores of their T5; they mean nothing on any other scale."""

PAPER_STRIPS = -0.5
LABEL_UPPER_LOWER = (0.5, -0.5)
_FITTING: Mapping[str, EvaluatorName] = {"checkpoint": "t5", "preset": "t5", "reranker": "cross_encoder"}


@dataclass(frozen=True, slots=True)
class Threshold:
    """A score to compare with, and where it comes from: `paper`, `default`, `user` or `calibrated`."""

    value: float
    origin: str


@dataclass(frozen=True, slots=True)
class Thresholds:
    """`upper` and `lower` part the three actions; a strip is kept whose score is above `strips`."""

    upper: Threshold
    lower: Threshold
    strips: Threshold


class CorrectiveParams(CalibratedParams):
    """Settings of Corrective RAG. None = what suits the evaluator."""

    calibratable: ClassVar[tuple[str, ...]] = ("upper", "lower", "strip_threshold")

    evaluator: EvaluatorName = Field(
        default="probabilities",
        description="Who scores a passage: the model's label (T0), the probabilities of its labels (T1), a "
        "cross-encoder, or the paper's T5 checkpoint (T2; paper section 4.2).",
    )
    upper: float | None = Field(
        default=None,
        allow_inf_nan=False,
        description="A passage scored at least this makes the action Correct. t5: the preset's (paper); labels and "
        "probabilities: 0.5 (default; by labels this is the paper's rule, probabilities want calibration).",
    )
    lower: float | None = Field(
        default=None,
        allow_inf_nan=False,
        description="No passage scored at least this makes the action Incorrect. t5: the preset's (paper); labels and "
        "probabilities: -0.5 (default).",
    )
    strip_threshold: float | None = Field(
        default=None,
        allow_inf_nan=False,
        description="Strips scored above this are kept. t5: -0.5 (paper section 4.4); labels: -0.5, which keeps "
        "relevant and unsure ones; probabilities: 0 (default).",
    )
    preset: Preset | None = Field(
        default=None,
        description="Data set whose thresholds of the paper's appendix the t5 evaluator takes; None = popqa.",
    )
    checkpoint: str | None = Field(default=None, description="Folder of the released T5 evaluator, for t5.")
    reranker: str | None = Field(
        default=None, description="The cross-encoder, named as `rerank.model` is; None = that of the run."
    )
    decompose: Decomposition = Field(
        default="sentences",
        description="Strips of a few sentences (paper section 4.4), whole passages (the released code's default), or "
        "no refinement at all (the paper's ablation).",
    )
    strip_sentences: int = Field(
        default=3,
        ge=1,
        description="Sentences of a strip; the paper says a few. A passage of one or two sentences is one strip.",
    )
    max_strips: int = Field(default=5, ge=1, description="Strips kept at most of each source (paper section 4.4: 5).")
    keywords: int = Field(default=3, ge=1, description="Keywords of the external search at most (paper: 3).")
    external: External = Field(
        default="off",
        description="Where else to search: nowhere, the index of `external.dataset`, or the live tool "
        "`external.tool`. The paper searches the web; that leaks answers of public benchmarks.",
    )
    external_results: int = Field(default=5, ge=1, description="External results used (released code: 5 of 10).")

    @model_validator(mode="after")
    def _settings_fit_the_evaluator(self) -> Self:
        for name, owner in _FITTING.items():
            if getattr(self, name) is not None and self.evaluator != owner:
                raise ValueError(f"{name} is for evaluator {owner}, not {self.evaluator}: leave it out")
        if self.evaluator == "t5" and self.checkpoint is None:
            raise ValueError("evaluator t5 needs the folder of the released weights: set checkpoint")
        if self.evaluator == "cross_encoder" and None in (self.upper, self.lower, self.strip_threshold):
            raise ValueError(
                "evaluator cross_encoder has a scale of its own: calibrate upper, lower and strip_threshold on a "
                "development split, and set all three"
            )
        return self

    @model_validator(mode="after")
    def _upper_is_above_lower(self) -> Self:
        upper, lower = self.thresholds.upper.value, self.thresholds.lower.value
        if upper < lower:
            raise ValueError(f"upper {upper:g} is below lower {lower:g}: no score could be ambiguous")
        return self

    @property
    def trained(self) -> TrainedModel | None:
        """The trained evaluator; None = the run's model judges."""
        match self.evaluator:
            case "t5":
                return TrainedModel("evaluator", "t5", self.checkpoint)
            case "cross_encoder":
                return TrainedModel("evaluator", "cross_encoder", self.reranker)
            case _:
                return None

    @property
    def thresholds(self) -> Thresholds:
        """The three thresholds with their origins."""
        usual = PAPER_UPPER_LOWER[self.preset or "popqa"] if self.evaluator == "t5" else LABEL_UPPER_LOWER
        origin = "paper" if self.evaluator == "t5" else "default"
        cut = 0.0 if self.evaluator == "probabilities" else PAPER_STRIPS
        return Thresholds(
            self._chosen("upper", usual[0], origin),
            self._chosen("lower", usual[1], origin),
            self._chosen("strip_threshold", cut, origin),
        )

    def _chosen(self, name: str, usual: float, origin: str) -> Threshold:
        given: float | None = getattr(self, name)
        if given is None:
            return Threshold(usual, origin)
        return Threshold(given, CALIBRATED if self.is_calibrated(name) else "user")
