"""What all models of leaderboard.json have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Row(BaseModel):
    """Base of the schema: closed and frozen."""

    model_config = ConfigDict(frozen=True, extra="forbid")
