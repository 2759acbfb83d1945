"""`arena show`: parse, call, print; no logic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.terminal.tables import put


def show(
    run_folder: Annotated[Path, typer.Argument(help="A finished run, as in runs/RUN_ID.")],
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
) -> None:
    """Print the leaderboard of a finished run, and what it rests on.

    Comparisons, failures, symptoms and where to act, controllers, judges, figures by kind and hops.
    """
    from arena.report.console import print_details, print_leaderboard, render_markdown
    from arena.store import RunStore
    from experiments.run.start import read_leaderboard, staleness
    from experiments.terminal.progress import Reporter
    from experiments.terminal.tables import Console

    store = RunStore.open(run_folder)
    board = read_leaderboard(store)
    if stale := staleness(store):
        Reporter(Console(stderr=True)).warn(stale)
    if markdown:
        put(render_markdown(board))
    else:
        console = Console()
        print_leaderboard(board, console)
        print_details(board, console)
