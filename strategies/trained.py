"""What trained model a strategy's settings ask for; whoever sets up a run opens it and hands it over in `Tools`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """`role`: the field of `Tools` that it is handed over in. `kind` and `model` say which one: a folder, or a name.

    `model` None is the run's own of that kind.
    """

    role: Literal["evaluator", "router"]
    kind: Literal["t5", "cross_encoder", "folder"]
    model: str | None = None
