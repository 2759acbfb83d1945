"""The `arena` command: parse, call, print; no logic.

Exit codes: 0 done; 1 a check the user asked for failed; 2 the user must mend something (message, no
traceback); 3 the run ended with more failed questions than `max_failure_share`; 4 done, and all files written, but what
it prints could not be: nobody reads on, or the disk is full.
"""

from __future__ import annotations

import gc
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from types import FrameType
from typing import Annotated

import typer

from arena.errors import UserError
from arena.files import check_typed
from experiments.cli.decide import calibrate, equalize, gate, sample_size, sweep, train_router
from experiments.cli.groups import CHECK_FAILED, datasets_app, index_app, models_app, new_reporter, strategies_app
from experiments.cli.read import compare, inspect, papers_app, report, review_app, serve, show
from experiments.cli.run import run
from experiments.cli.runs import cost, export, import_, judge, merge, score, track, verify
from experiments.terminal.tables import SIGNALS, Console, as_json, printing, put

MEND_FIRST, NOT_PRINTED = 2, 4
_NO_MEMORY = re.compile(r"failed to map segment|cannot allocate memory", re.IGNORECASE)
"""How the loader says that a library did not fit into memory."""

app = typer.Typer(
    help="Measure which retrieval-augmented generation strategy wins on your data, by how much, and at what price.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
COMMANDS: Mapping[str, tuple[Callable[..., None], ...]] = {
    "Run": (run, judge, merge, import_),
    "Read": (show, report, serve, inspect, compare, export, track),
    "Decide": (gate, sweep, calibrate, train_router, equalize, sample_size),
    "Check": (score, cost, verify),
}
"""Heading in `arena --help` -> its commands."""

for heading, commands in COMMANDS.items():
    for command in commands:
        app.command(command.__name__.strip("_").replace("_", "-"), rich_help_panel=heading)(command)
app.add_typer(review_app, name="review", rich_help_panel="Read")
app.add_typer(papers_app, name="papers", rich_help_panel="Decide")
app.add_typer(index_app, name="index", rich_help_panel="Equipment")
app.add_typer(datasets_app, name="datasets", rich_help_panel="Equipment")
app.add_typer(models_app, name="models", rich_help_panel="Equipment")
app.add_typer(strategies_app, name="strategies", rich_help_panel="Equipment")


class _Stopped(BaseException):
    """Ctrl-C, SIGTERM or a closed terminal outside the asking of questions, which has its own, gentler handling."""


_COLLECTED_AT = 10_000
"""New objects at which Python looks for garbage, usually 700: of a command's, most are modules, which stay."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point: what the user can mend, or stopped, becomes one message on stderr and exit code 2.

    A command goes on to its end when nobody takes what it prints, and says so then.
    """
    if arguments is None:
        gc.set_threshold(_COLLECTED_AT)
    with printing() as output:
        try:
            _run(arguments)
            code: str | int | None = 0
        except SystemExit as ended:
            code = ended.code
        output.flush()
        if output.fault is not None and not code:
            reason = output.fault.strerror or output.fault
            put(f"arena: done, but what it prints could not be written ({reason})", err=True)
            code = NOT_PRINTED
    raise SystemExit(code)


def _run(arguments: Sequence[str] | None) -> None:
    try:
        with _stop_signals(ends=arguments is None):
            check_typed(sys.argv[1:] if arguments is None else arguments)
            _command()(arguments, prog_name="arena")
    except (UserError, _Stopped) as error:
        put(f"arena: {error}", err=True)
        raise SystemExit(MEND_FIRST) from None
    except (MemoryError, ImportError) as error:
        if not isinstance(error, MemoryError) and not _NO_MEMORY.search(str(error)):
            raise
        put("arena: this machine has too little memory left: free some, or lower batch sizes and concurrency", err=True)
        raise SystemExit(MEND_FIRST) from None


@cache
def _command() -> Callable[..., None]:
    """All commands, as read from their signatures; once a process, which may call `main` often."""
    return typer.main.get_command(app)


def _say_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        put(f"arena {version('rag-strategy-arena')}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Without a command, what there is to know of all of them."""


@contextmanager
def _stop_signals(*, ends: bool) -> Iterator[None]:
    """Raise `_Stopped` on each of `SIGNALS`; one that is ignored, as Ctrl-C in a script's background job, stays so.

    `ends`: the process ends afterwards, and a second Ctrl-C does not get in the way of that.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        raise _Stopped("stopped; what was finished is kept")

    numbers = [number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            # Python's own handler would print a traceback out of whatever a library does at the exit.
            signal.signal(number, signal.SIG_IGN if ends and number == signal.SIGINT else handler)


@app.command(rich_help_panel="Check")
def doctor() -> None:
    """Check this installation: package collisions, weights, writable folders."""
    from experiments.execution import process as installation

    if not installation.report(installation.examine(), Console()):
        raise typer.Exit(CHECK_FAILED)


@app.command(rich_help_panel="Check")
def bench(
    name: Annotated[
        str,
        typer.Argument(help="embedding, index, llm, report, retrieval, runner, scoring, startup, strategies, world."),
    ],
    quick: Annotated[bool, typer.Option("--quick", help="Leave out the largest sizes.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure this project's own speed and memory on this machine."""
    from experiments.bench import bench_table, measure

    figures = measure(name, new_reporter().say, quick=quick)
    if json:
        put(as_json(figures))
    else:
        Console().print(bench_table(name, figures))
