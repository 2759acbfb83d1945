"""What is made equal: tokens, US dollars or model calls per question."""

from __future__ import annotations

from typing import Literal, get_args

from arena.errors import ConfigError
from arena.leaderboard.build import CellSummary
from arena.report.figures import per_question_text, usd_text

Unit = Literal["tokens", "usd", "calls"]
UNITS: tuple[Unit, ...] = get_args(Unit)


def spent(cell: CellSummary, unit: Unit) -> float:
    """What a cell spends per question, failed ones included; replayed calls at what they would have cost.

    Raises:
        ConfigError: it is not known.
    """
    match unit:
        case "calls":
            return cell.llm_calls_per_question
        case "tokens":
            if cell.tokens is None:
                raise ConfigError(
                    f"the tokens of model {cell.llm!r} are unknown, its provider does not report them: equalise calls "
                    "with --per-question calls"
                )
            return cell.tokens
        case "usd":
            if cell.cost_usd_per_question is None:
                raise ConfigError(
                    f"no price is known for model {cell.llm!r}: give it one under `prices`, or equalise tokens with "
                    "--per-question tokens"
                )
            return cell.cost_usd_per_question


def amount_text(amount: float | None, unit: Unit) -> str:
    """Spending per question in its unit."""
    return usd_text(amount) if unit == "usd" else per_question_text(amount)
