"""What `arena score` prints: a run's leaderboard, predictions, or the one with the others as a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from arena.errors import ConfigError
from arena.leaderboard.build import Leaderboard
from arena.metrics.answer import NOT_OFFICIAL
from arena.store import RunStore
from experiments.scoring.conclusion import board_of, open_past_run, rescore, score_run
from experiments.scoring.predictions import predictions_board, score_predictions
from experiments.terminal.progress import Reporter
from experiments.terminal.tables import as_json

Official = Mapping[str, float]
"""MuSiQue's own figures: name -> value in [0, 1], unrounded."""


def scored(
    run_folder: Path | None, predictions: Path | None, dataset: str | None, reporter: Reporter
) -> tuple[Leaderboard, Official | None]:
    """The leaderboard, and the official figures of the predictions (None: there are none).

    Args:
        run_folder: a run; without predictions its derived files are written anew.
        predictions: a file in MuSiQue's official format.
        dataset: what they are scored against, where there is no run; with one, where its dataset lies now.
        reporter: who hears of progress.

    Raises:
        ConfigError: neither a run nor predictions; predictions without a dataset.
        UserError: what `rescore` and `score_predictions` raise.
    """
    if predictions is None:
        if run_folder is None:
            raise ConfigError("nothing to score: name a run folder, or --predictions FILE with --dataset musique:PATH")
        return rescore(RunStore.open(run_folder, dataset), reporter), None
    if run_folder is not None:
        return _as_row(RunStore.open(run_folder, dataset), predictions, reporter)
    if dataset is None:
        raise ConfigError(
            f"what {str(predictions)!r} predicts is not said: add --dataset musique:PATH, or a run folder"
        )
    alone = score_predictions(predictions, dataset)
    return predictions_board(alone), alone.official


def _as_row(store: RunStore, predictions: Path, reporter: Reporter) -> tuple[Leaderboard, Official]:
    """The run's leaderboard with the predictions as its last row, on the run's questions. Writes nothing."""
    run = open_past_run(store)
    asked = {question_id for planned in run.plan.cells for question_id in planned.question_ids}
    added = score_predictions(predictions, store.data_at or run.config.dataset, asked)
    reporter.say("scoring ...")
    table = score_run(run)
    return board_of(run, replace(table, cells=(*table.cells, added.row))), added.official


def official_line(official: Official) -> str:
    """The figures that the official program prints, to three decimals as it does; what we add to them stands apart."""
    printed, own = (
        ", ".join(f"{name} {value:.3f}" for name, value in part.items()) for part in _official_and_ours(official)
    )
    return f"MuSiQue's official figures: {printed}" + (f"; ours: {own}" if own else "")


def scored_json(board: Leaderboard, official: Official | None) -> str:
    """The leaderboard as one JSON object.

    Official figures, where there are any, are under `official`; what we add to them is under `beside_official`.
    """
    if official is None:
        return board.model_dump_json(indent=2)
    printed, own = _official_and_ours(official)
    return as_json({"official": printed, "beside_official": own, **board.model_dump(mode="json")})


def _official_and_ours(official: Official) -> tuple[dict[str, float], dict[str, float]]:
    ours = {name: value for name, value in official.items() if name in NOT_OFFICIAL}
    return {name: value for name, value in official.items() if name not in NOT_OFFICIAL}, ours
