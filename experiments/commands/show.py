"""`arena show`: parse, call, print; no logic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def show(
    run_folder: Annotated[Path, typer.Argument(help="A finished run, as in runs/RUN_ID.")],
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
) -> None:
    """Print the leaderboard of a finished run again, and what its controllers did."""
    from rich.console import Console

    from arena.report.console import print_leaderboard
    from arena.report.controllers_table import print_controllers
    from arena.report.markdown import render_markdown
    from arena.store import RunStore
    from experiments.study import read_leaderboard

    board = read_leaderboard(RunStore.open(run_folder))
    if markdown:
        print(render_markdown(board))
    else:
        console = Console()
        print_leaderboard(board, console)
        print_controllers(board, console)
