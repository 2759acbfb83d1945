"""The `arena` command: parse, call, print; no logic.

Exit codes: 0 done; 1 a check the user asked for failed; 2 the user must mend something (message, no
traceback); 3 the run ended with more failed questions than `max_failure_share`.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Annotated

import typer

from arena.errors import UserError
from experiments.cli_groups import CHECK_FAILED, datasets_app, index_app, models_app, strategies_app
from experiments.commands.cost import cost
from experiments.commands.judge import judge
from experiments.commands.merge import merge
from experiments.commands.run import run
from experiments.commands.sample_size import sample_size
from experiments.commands.score import score
from experiments.commands.show import show
from experiments.commands.track import track
from experiments.commands.verify import verify

MEND_FIRST = 2

app = typer.Typer(
    help="Measure which retrieval-augmented generation strategy wins on your data, by how much, and at what price.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(index_app, name="index")
app.add_typer(datasets_app, name="datasets")
app.add_typer(models_app, name="models")
app.add_typer(strategies_app, name="strategies")
for command in (run, show, score, judge, cost, verify, merge, track, sample_size):
    app.command()(command)


class _Stopped(BaseException):
    """Ctrl-C or SIGTERM outside the asking of questions, which has its own, gentler handling."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point: what the user can mend, or stopped, becomes one message on stderr and exit code 2."""
    try:
        with _stop_signals():
            app(arguments, prog_name="arena")
    except (UserError, _Stopped) as error:
        print(f"arena: {error}", file=sys.stderr)
        raise SystemExit(MEND_FIRST) from None


@contextmanager
def _stop_signals() -> Iterator[None]:
    """Raise `_Stopped` on Ctrl-C (unless it is ignored, as in a script's background job) and on SIGTERM."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise _Stopped("stopped; what was finished is kept")

    numbers = [number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@app.command()
def doctor() -> None:
    """Check this installation: package collisions, weights, writable folders."""
    from rich.console import Console

    from experiments.doctor import examine, report

    if not report(examine(), Console()):
        raise typer.Exit(CHECK_FAILED)


@app.command()
def bench(
    name: Annotated[
        str,
        typer.Argument(help="embedding, index, llm, retrieval, runner, scoring, startup, strategies or world."),
    ],
    quick: Annotated[bool, typer.Option("--quick", help="Leave out the largest sizes.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure this project's own speed and memory on this machine."""
    from rich.console import Console

    from experiments.bench import bench_table, measure
    from experiments.terminal.progress import Reporter
    from experiments.terminal.tables import as_json

    figures = measure(name, Reporter(Console(stderr=True)).say, quick=quick)
    if json:
        print(as_json(figures))
    else:
        Console().print(bench_table(name, figures))
