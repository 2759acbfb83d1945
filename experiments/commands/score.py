"""`arena score`: parse, call, print; no logic."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from experiments.terminal.tables import put

if TYPE_CHECKING:
    from arena.leaderboard.build import Leaderboard
    from experiments.terminal.tables import Console


def score(
    run_folder: Annotated[Path | None, typer.Argument(help="A run, as in runs/RUN_ID.")] = None,
    predictions: Annotated[
        Path | None, typer.Option(help="Predictions in MuSiQue's official format, one JSON object a line.")
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(help="What --predictions are scored against without a run; where the run's data lie now."),
    ] = None,
    details: Annotated[bool, typer.Option("--details", help="Print all that `arena show` prints.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Compute the scores of a run anew from its folder, and print the leaderboard. Asks no model.

    With --predictions they are a row of it, and the run's files stay as they are; without a run, a table of their own
    under MuSiQue's official figures.

        arena score runs/RUN_ID
        arena score runs/RUN_ID --predictions predictions.jsonl
        arena score --predictions predictions.jsonl --dataset musique:dev.jsonl --json
    """
    from experiments.run.predictions import official_line, scored, scored_json
    from experiments.terminal.progress import Reporter
    from experiments.terminal.tables import Console

    board, official = scored(run_folder, predictions, dataset, Reporter(Console(stderr=True), quiet=json))
    if json:
        put(scored_json(board, official))
        return
    console = Console()
    if official is not None:
        console.print(official_line(official), markup=False, highlight=False, soft_wrap=True)
    _print(board, console, details=details)


def _print(board: Leaderboard, console: Console, *, details: bool) -> None:
    from arena.report.console import print_leaderboard

    print_leaderboard(board, console)
    if details:
        from arena.report.console import print_details

        print_details(board, console)
