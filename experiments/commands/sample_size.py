"""`arena sample-size`: parse, call, print; no logic."""

from __future__ import annotations

from typing import Annotated

import typer

from experiments.terminal.tables import put


def sample_size(
    difference: Annotated[float, typer.Argument(min=0.001, max=1.0, help="Of two cells' answer_em, as in 0.05.")],
    discordance: Annotated[
        float, typer.Option(min=0.001, max=1.0, help="Share of the questions on which the two differ.")
    ] = 0.2,
) -> None:
    """Print how many questions show such a difference, with 80 % power at the 5 % level, to a paired test."""
    from experiments.run.budget import questions_needed

    put(f"{questions_needed(difference, discordance):,} questions")
