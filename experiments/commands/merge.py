"""`arena merge`: the shares of a run, asked by several processes, as one run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.terminal.tables import put


def merge(
    run_folders: Annotated[list[Path], typer.Argument(help="The folders of all shares, as in runs/a runs/b.")],
    into: Annotated[str, typer.Option(help="Name of the run folder to make.")],
    runs_dir: Annotated[Path | None, typer.Option(help="Where it goes; default: beside the first share.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
) -> None:
    """Join runs of one plan, made by `arena run --shard i/n` on one machine or many, and derive the leaderboard.

    They must agree in everything that can change a result. Where questions are missing, the merged run says which
    cells lack how many, ends with 1, and can be continued with `arena run --resume`.

        arena merge runs/a runs/b runs/c --into whole
    """
    from arena.report.console import print_leaderboard
    from experiments.run.merging import merge_runs, merged_folder, missing_text
    from experiments.terminal.progress import Reporter
    from experiments.terminal.tables import Console

    reporter = Reporter(Console(stderr=True), quiet=json)
    target = merged_folder(runs_dir or run_folders[0].resolve().parent, into)
    merged = merge_runs(run_folders, target, reporter)
    if merged.board is None:
        reporter.warn(missing_text(merged))
        raise typer.Exit(1)
    if json:
        put(merged.store.leaderboard_json(), end="", flush=True)
    else:
        print_leaderboard(merged.board, Console())
