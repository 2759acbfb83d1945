"""`arena serve`: the reports of all runs behind one local page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def serve(
    runs_dir: Annotated[Path, typer.Argument(help="Where the run folders are.")] = Path("runs"),
    host: Annotated[str, typer.Option(help="Address to listen on; default: this machine only.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free port.")] = 8000,
) -> None:
    """Show all runs, and those that go on live, on one local page. Read-only; Ctrl-C ends it."""
    from experiments.terminal.progress import Reporter
    from experiments.terminal.tables import Console
    from experiments.views.serve.app import serve_runs

    serve_runs(runs_dir, host, port, Reporter(Console(stderr=True)))
