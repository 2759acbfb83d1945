"""Whose judgements a contestant goes by, and that its calibrated thresholds were chosen on those."""

from __future__ import annotations

from arena.errors import ConfigError
from arena.types import Cell

_CALIBRATED_FOR = "calibrated_for"


def judge_of(cell: Cell) -> str | None:
    """Who judges, as in `probabilities of openai:NAME` or `scores of bge-reranker-v2-m3`; None = nobody does.

    Two cells with the same judge have scores on the same scale.
    """
    params = cell.params
    match cell.strategy:
        case "corrective":
            evaluator = str(params.get("evaluator"))
            trained = evaluator in ("t5", "cross_encoder")
            return f"scores of {params.get('evaluator_model')}" if trained else f"{evaluator} of {cell.llm}"
        case "self_rag" if params.get("retrieval") == "adaptive":
            how = "reflection tokens" if params.get("checkpoint") else params.get("judge")
            return f"{how} of {cell.llm}"
        case "adaptive" if params.get("policy") == "classifier":
            return f"{params.get('judge')} of {cell.llm}"
        case "adaptive" if params.get("policy") == "router":
            return f"router {params.get('router_sha')}"
    return None


def check_calibrated(cell: Cell) -> None:
    """Refuse thresholds that were chosen on the scores of another judge than the cell's.

    Raises:
        ConfigError: it names both.
    """
    chosen_for, judge = cell.params.get(_CALIBRATED_FOR), judge_of(cell)
    if chosen_for is not None and judge not in (None, chosen_for):
        raise ConfigError(
            f"{cell.strategy}: {cell.params.get('calibrated')} was calibrated on {chosen_for!r} and says nothing about "
            f"{judge!r}: calibrate it for that one, or leave out calibrated and calibrated_for to insist"
        )
