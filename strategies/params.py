"""What of a strategy can be set."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Params(BaseModel):
    """Base of a strategy's settings: frozen, an unknown key is an error. A field's description names its source."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class NoParams(Params):
    """Nothing can be set."""
