"""The `arena` command: parse, call, print; no logic.

Exit codes: 0 done; 1 a check the user asked for failed; 2 the user must mend something (message, no
traceback); 3 the run ended with more failed questions than `max_failure_share`.
"""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer

from arena.errors import ConfigError, UserError
from experiments.cli_groups import CHECK_FAILED, datasets_app, given, index_app, models_app, strategies_app

MEND_FIRST = 2
TOO_MANY_FAILURES = 3

_COMMA = re.compile(r",(?![^\[\]]*\])")  # outside brackets

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
def run(
    config: Annotated[Path | None, typer.Argument(help="YAML file of settings; options go over it.")] = None,
    dataset: Annotated[str | None, typer.Option(help="world, world:SIZE:SEED, musique:PATH or jsonl:DIR.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Questions per cell, a seeded stratified sample.")] = None,
    strategies: Annotated[
        str | None, typer.Option(help="Comma separated, as in vanilla,adaptive:policy=always_b.")
    ] = None,
    modes: Annotated[str | None, typer.Option(help="Comma separated: dense,hybrid,hybrid_rerank.")] = None,
    llm: Annotated[str | None, typer.Option(help="PROVIDER:NAME, local:smollm2-135m, local:PATH.gguf, fake:.")] = None,
    base_url: Annotated[str | None, typer.Option(help="Any OpenAI-compatible server (vLLM, llama.cpp, ...).")] = None,
    cache: Annotated[bool | None, typer.Option(help="Take replies paid for before.", show_default=False)] = None,
    max_usd: Annotated[float | None, typer.Option(help="Stop, resumably, once so much is spent.")] = None,
    max_run_tokens: Annotated[int | None, typer.Option(help="Stop once all calls took so many tokens.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what it would cost; spend nothing.")] = False,
    runs_dir: Annotated[Path | None, typer.Option(help="Where run folders go; default runs.")] = None,
    run_id: Annotated[str | None, typer.Option(help="Name of the run folder; default: time and fingerprint.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue --run-id, or the latest unfinished run.")] = False,
    concurrency: Annotated[int | None, typer.Option(min=1, help="Questions in flight at once; default 8.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of sampling and of the bootstrap; default 0.")] = None,
    mlflow: Annotated[bool | None, typer.Option(help="Copy the run to MLflow.", show_default=False)] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
) -> None:
    """Run contestants on a dataset and print the leaderboard.

    Without CONFIG and --dataset this is the quickstart: a bundled fictional world and a 135M model.

        arena run --dataset musique:dev.jsonl --strategies retrieval_only --modes dense,hybrid
        arena run --dataset jsonl:my_data --llm openai:my-model --base-url http://127.0.0.1:8000/v1
        arena run study.yaml --dry-run
        arena run --resume --max-usd 20
    """
    options = given(
        dataset=dataset,
        strategies=_names(strategies),
        modes=_names(modes),
        runs_dir=runs_dir,
        run_id=run_id,
        concurrency=concurrency,
        seed=seed,
        mlflow=mlflow,
        llm=given(model=llm, base_url=base_url, cache=cache),
        budget=given(max_usd=max_usd, max_tokens=max_run_tokens),
        sample=given(limit=limit),
    )
    if dry_run and resume:
        raise ConfigError("--dry-run is about a new run, and --resume continues one: leave one of them out")
    if dry_run:
        _print_expected(config, options, json=json)
    else:
        _run_and_print(config, options, resume=resume, json=json)


def _run_and_print(config: Path | None, options: dict[str, Any], *, resume: bool, json: bool) -> None:
    from rich.console import Console

    from arena.report.console import print_leaderboard
    from experiments.farewell import print_next_steps
    from experiments.launch import launch
    from experiments.progress import Reporter
    from experiments.study import track_outcome

    console, reporter = Console(), Reporter(Console(stderr=True), quiet=json)
    outcome = launch(config, options, reporter, resume_run=resume)
    if json:
        print(outcome.store.leaderboard_json(), end="", flush=True)
    else:
        print_leaderboard(outcome.board, console)
    mlflow_run = track_outcome(outcome, reporter) if outcome.mlflow else None
    if not json:
        print_next_steps(outcome, mlflow_run, console)
    if outcome.too_many_failures:
        raise typer.Exit(TOO_MANY_FAILURES)


def _print_expected(config: Path | None, options: dict[str, Any], *, json: bool) -> None:
    from rich.console import Console

    from experiments.dry_run import dry_run
    from experiments.dry_run_table import dry_run_fields, dry_run_notes, dry_run_table
    from experiments.launch import settings_of
    from experiments.printing import print_table
    from experiments.progress import Reporter
    from experiments.tables import as_json

    expected = dry_run(settings_of(config, options), Reporter(Console(stderr=True), quiet=json))
    if json:
        print(as_json(dry_run_fields(expected)))
    else:
        print_table(dry_run_table(expected), dry_run_notes(expected), Console())


@app.command()
def cost(
    run_folder: Annotated[Path, typer.Argument(help="A run, finished or not, as in runs/RUN_ID.")],
    config: Annotated[Path | None, typer.Option(help="YAML file whose `prices` go over the run's.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print what a run used and cost, by cell and role. Asks no model, so a run can be priced anew at any time."""
    from rich.console import Console

    from experiments.cost import cost_fields, cost_notes, cost_of, cost_table
    from experiments.printing import print_table
    from experiments.tables import as_json

    found = cost_of(run_folder, config)
    if json:
        print(as_json(cost_fields(found)))
    else:
        print_table(cost_table(found), cost_notes(found), Console())


@app.command()
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


@app.command()
def doctor() -> None:
    """Check this installation: package collisions, weights, writable folders."""
    from rich.console import Console

    from experiments.doctor import examine, report

    if not report(examine(), Console()):
        raise typer.Exit(CHECK_FAILED)


@app.command()
def bench(
    name: Annotated[str, typer.Argument(help="embedding, index, llm, retrieval, startup, strategies or world.")],
    quick: Annotated[bool, typer.Option("--quick", help="Leave out the largest sizes.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure this project's own speed and memory on this machine."""
    from rich.console import Console

    from experiments.bench import bench_table, measure
    from experiments.progress import Reporter
    from experiments.tables import as_json

    figures = measure(name, Reporter(Console(stderr=True)).say, quick=quick)
    if json:
        print(as_json(figures))
    else:
        Console().print(bench_table(name, figures))


def _names(text: str | None) -> list[str] | None:
    """Names parted by commas; those inside brackets belong to a setting: `self_rag:options=[yes,no]`."""
    return None if text is None else [name.strip() for name in _COMMA.split(text) if name.strip()]
