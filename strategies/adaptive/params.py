"""The settings of Adaptive-RAG; the caps of strategy C are IRCoT's.

A label says how complex a question is: A, B or C. It can come from a file that names one for each question, or from the
folder of a trained router.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal, Self, get_args

from pydantic import Field, computed_field, model_validator

from arena.errors import ConfigError
from arena.files import parse_json
from arena.identity import short_hash
from strategies.base import CALIBRATED, CalibratedParams, TrainedModel
from strategies.ircot.graph import IrcotParams


def router_sha(folder: Path) -> str:
    """16 hex digits that change with what the router is.

    Raises:
        ConfigError: there is no router.
    """
    try:
        content = (folder.expanduser() / "router.json").read_bytes()
    except OSError as error:
        raise ConfigError(
            f"router {str(folder)!r} cannot be read ({error.strerror}): it has no router.json; make one with "
            "`arena train-router RUN --out FOLDER`"
        ) from None
    return short_hash(content)


Label = Literal["A", "B", "C"]
"""A: no retrieval answers it; B: one retrieval; C: several, one after another."""

LABELS: tuple[Label, ...] = get_args(Label)
_HOW = "write a JSON object of question -> A, B or C, as `arena strategies labels` does"


def read_labels(path: Path) -> tuple[Mapping[str, Label], str]:
    """Question text -> label; and 16 hex digits that change with the file.

    Raises:
        ConfigError: the file cannot be read, or is no JSON object of questions and labels.
    """
    try:
        written = path.expanduser().read_bytes()
    except OSError as error:
        raise ConfigError(f"oracle_labels {str(path)!r} cannot be read ({error.strerror}): {_HOW}") from None
    try:
        content = parse_json(written)
    except ValueError as error:
        raise ConfigError(f"oracle_labels {str(path)!r} is no JSON ({error}): {_HOW}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"oracle_labels {str(path)!r} holds a {type(content).__name__}, not an object: {_HOW}")
    for question, label in content.items():
        if label not in LABELS:
            raise ConfigError(f"oracle_labels {str(path)!r}: the label of {question!r} is {label!r}: {_HOW}")
    return content, short_hash(written)


Policy = Literal["classifier", "router", "always_a", "always_b", "always_c", "oracle"]


class AdaptiveParams(IrcotParams, CalibratedParams):
    """Who labels a question, and how."""

    calibratable: ClassVar[tuple[str, ...]] = ("cost_bias",)

    policy: Policy = Field(
        default="classifier",
        description="Who gives the label: the prompted classifier, a trained router (the paper's own way), one label "
        "for all (the fixed rows of its tables), or a file of silver labels (its oracle row). Only the classifier "
        "costs a call. arXiv 2403.14403, tables 1 and 2.",
    )
    judge: Literal["probabilities", "labels"] = Field(
        default="probabilities",
        description="What the classifier's label is read from: the probabilities of A, B and C where the provider "
        "gives them (T1; the paper's softmax over three letters), or the text of the reply (T0).",
    )
    cost_bias: float = Field(
        default=0.0,
        ge=0,
        le=100,
        description="Taken from log p(label) once for B and twice for C before the largest is chosen: 0 is the paper's "
        "argmax, more prefers cheaper labels. Needs probabilities. Ours.",
    )
    oracle_labels: Path | None = Field(
        default=None,
        description="For policy oracle: JSON file of question -> A, B or C, as `arena strategies labels RUN --out "
        "FILE` writes it. A question that it lacks is labelled B.",
    )

    router: Path | None = Field(
        default=None,
        description="For policy router: folder of a router trained for the run's model, as `arena train-router RUN "
        "--out FOLDER` writes it (a T5 is T2, the light stand-in T1; its card says which).",
    )

    @computed_field  # type: ignore[prop-decorator]  # as pydantic's own documentation has it
    @property
    def router_sha(self) -> str | None:
        """What the router is; its router.json names its weights by their hash."""
        return router_sha(self.router) if self.policy == "router" and self.router else None

    @computed_field  # type: ignore[prop-decorator]  # as pydantic's own documentation has it
    @property
    def oracle_labels_sha(self) -> str | None:
        """What the labels are is part of a run's identity, not only where they lie."""
        return read_labels(self.oracle_labels)[1] if self.policy == "oracle" and self.oracle_labels else None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.policy == "oracle" and self.oracle_labels is None:
            raise ValueError(
                "policy oracle needs oracle_labels=FILE: make one with `arena strategies labels RUN --out FILE`"
            )
        if self.policy == "router" and self.router is None:
            raise ValueError("policy router needs router=FOLDER: make one with `arena train-router RUN --out FOLDER`")
        if self.cost_bias and self.judge == "labels":
            raise ValueError("cost_bias needs judge=probabilities: the text of a reply has none")
        return self

    @property
    def trained(self) -> TrainedModel | None:
        """The trained router; None = the policy asks none."""
        return TrainedModel("router", "folder", str(self.router)) if self.policy == "router" else None

    @property
    def bias_origin(self) -> str | None:
        """Where the preference for cheaper labels comes from; None = there is none, as in the paper."""
        if self.is_calibrated("cost_bias"):
            return CALIBRATED
        return "user" if self.cost_bias else None
