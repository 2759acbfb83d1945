"""Settings that may come from a calibration, and whose judgements they were chosen on."""

from __future__ import annotations

from typing import ClassVar, Self

from pydantic import Field, model_validator

from strategies.params import Params

CALIBRATED = "calibrated"
"""Origin of a threshold in the decisions that it made."""


class CalibratedParams(Params):
    """Base of settings some of which `arena calibrate` can choose; `calibratable` names those.

    A scale belongs to whoever judged: whether `calibrated_for` is who judges now is for those to check who know.
    """

    calibratable: ClassVar[tuple[str, ...]] = ()

    calibrated: tuple[str, ...] | None = Field(
        default=None,
        min_length=1,
        description="Names of the thresholds set beside it that `arena calibrate` chose; decisions made by them say "
        "so. In a config file only, as `arena calibrate` writes it.",
    )
    calibrated_for: str | None = Field(
        default=None,
        min_length=1,
        description="Whose judgements they were chosen on, as in `probabilities of openai:NAME`; refused where "
        "another evaluator or model judges.",
    )

    @model_validator(mode="after")
    def _calibrated_and_set(self) -> Self:
        if (self.calibrated is None) != (self.calibrated_for is None):
            raise ValueError("calibrated and calibrated_for belong together: set both, as `arena calibrate` does")
        for name in self.calibrated or ():
            if name not in self.calibratable:
                raise ValueError(f"calibrated names {name!r}: what can be is {', '.join(self.calibratable)}")
            if name not in self.model_fields_set or getattr(self, name) is None:
                raise ValueError(f"calibrated names {name!r}, which is not set: set it, or leave it out of calibrated")
        return self

    def is_calibrated(self, name: str) -> bool:
        """Whether a setting was chosen by a calibration."""
        return name in (self.calibrated or ())
