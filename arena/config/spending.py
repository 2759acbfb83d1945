"""What a run may cost, what its models cost, and how much one question may use. All frozen, unknown keys refused."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from arena.config.settings import Settings

Usd = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class PriceConfig(Settings):
    """The price of one model: per token, or per hour of the accelerator that it has to itself.

    Per token: US dollars per million tokens; `cached_input_usd_per_million` is for what the provider read from its own
    cache (None = the price of other input). Per hour: a call costs the seconds in which it was served, which is an
    upper bound where the server works on several calls at once.
    """

    input_usd_per_million: Usd | None = None
    output_usd_per_million: Usd | None = None
    cached_input_usd_per_million: Usd | None = None
    gpu_usd_per_hour: Usd | None = None

    @model_validator(mode="after")
    def _one_way_to_charge(self) -> PriceConfig:
        tokens = (self.input_usd_per_million, self.output_usd_per_million)
        if self.gpu_usd_per_hour is not None:
            if any(price is not None for price in (*tokens, self.cached_input_usd_per_million)):
                raise ValueError("a model is priced per token or by gpu_usd_per_hour, not by both: leave one out")
        elif None in tokens:
            raise ValueError(
                "a price needs both input_usd_per_million and output_usd_per_million, or gpu_usd_per_hour alone"
            )
        return self


class BudgetConfig(Settings):
    """What a run may spend in all, continued or not; replayed calls cost nothing.

    A run ends once a bound is reached, so it can be overrun by the calls that are then in flight.
    """

    max_usd: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    max_tokens: int | None = Field(default=None, ge=1, description="Input and output of all calls of the run.")


class AllowanceConfig(Settings):
    """What one question may use in one cell; a strategy that has used it up ends with what it has."""

    calls: int | None = Field(default=400, ge=1)
    tokens: int | None = Field(default=None, ge=1, description="Input and output of all its calls.")
