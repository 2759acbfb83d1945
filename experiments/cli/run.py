"""`arena run`: parse, call, print; no logic.

Exit codes beside those of `experiments.cli`: 3 the run ended with more failed questions than `max_failure_share`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from arena.errors import ConfigError
from experiments.cli.groups import given, new_reporter, print_board
from experiments.terminal.tables import Console, as_json, print_table, put

TOO_MANY_FAILURES = 3
"""Exit code: more questions failed than `max_failure_share`."""

_DATASETS = (
    "world, world:SIZE:SEED, ragrouter, jsonl:DIR, or musique, hotpotqa, 2wikimultihopqa as NAME:PATH; all forms: "
    "arena datasets list."
)
_COMMA = re.compile(r",(?![^\[\]]*\])")  # outside brackets


class RunOptions(NamedTuple):
    """How a run is gone about: continued, with what had failed asked again; `shard`: (i, n) = the i-th of n shares.

    `report`: whether it ends with a page.
    """

    resume: bool
    retry_failed: bool
    shard: tuple[int, int] | None
    report: bool = True


_SystemOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Your own, asked live: NAME=http:URL, NAME=python:module:function, NAME='command:...'; repeatable."
    ),
]
_SettingOption = Annotated[
    list[str] | None, typer.Option("--set", help="Any setting of a config, as in judge.repeats=3; repeatable.")
]


def run(
    config: Annotated[Path | None, typer.Argument(help="YAML file of settings; options go over it.")] = None,
    dataset: Annotated[str | None, typer.Option(help=_DATASETS)] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Questions per cell, a seeded stratified sample.")] = None,
    part: Annotated[str | None, typer.Option(help="dev or eval: a fixed split by a hash of the ids.")] = None,
    ids: Annotated[str | None, typer.Option(help="Comma separated: ask exactly these questions.")] = None,
    strategies: Annotated[
        str | None, typer.Option(help="Comma separated, as in vanilla,adaptive:policy=always_b.")
    ] = None,
    system: _SystemOption = None,
    modes: Annotated[str | None, typer.Option(help="Comma separated: dense,hybrid,hybrid_rerank.")] = None,
    llm: Annotated[str | None, typer.Option(help="PROVIDER:NAME, local:smollm2-135m, local:PATH.gguf, fake:.")] = None,
    base_url: Annotated[str | None, typer.Option(help="Any OpenAI-compatible server (vLLM, llama.cpp, ...).")] = None,
    judge: Annotated[str | None, typer.Option(help="PROVIDER:NAME of a model that judges the answers.")] = None,
    cache: Annotated[bool | None, typer.Option(help="Take replies paid for before.", show_default=False)] = None,
    max_usd: Annotated[float | None, typer.Option(help="Stop, resumably, once so much is spent.")] = None,
    max_run_tokens: Annotated[int | None, typer.Option(help="Stop once all calls took so many tokens.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what it would cost; spend nothing.")] = False,
    runs_dir: Annotated[Path | None, typer.Option(help="Where run folders go; default runs.")] = None,
    run_id: Annotated[str | None, typer.Option(help="Name of the run folder; default: time and fingerprint.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue --run-id, or the latest unfinished run; what is new is added.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Continue, and ask the questions that failed once more.")
    ] = False,
    shard: Annotated[
        str | None, typer.Option(help="i/n: ask the i-th of n shares of the questions; `arena merge` joins them.")
    ] = None,
    concurrency: Annotated[int | None, typer.Option(min=1, help="Questions in flight at once; default 8.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of sampling and of the bootstrap; default 0.")] = None,
    settings: _SettingOption = None,
    mlflow: Annotated[bool | None, typer.Option(help="Copy the run to MLflow.", show_default=False)] = None,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html at the end.")] = True,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
) -> None:
    """Run contestants on a dataset and print the leaderboard.

    Without CONFIG and --dataset this is the quickstart: a bundled fictional world and a 135M model.

        arena run --dataset musique:dev.jsonl --strategies retrieval_only --modes dense,hybrid
        arena run --dataset jsonl:my_data --llm openai:my-model --base-url http://127.0.0.1:8000/v1
        arena run study.yaml --dry-run
        arena run study.yaml --judge openai:gpt-4.1 --set latency_probe=20
        arena run --resume --max-usd 20
    """
    place = given(dataset=dataset, runs_dir=runs_dir, run_id=run_id, concurrency=concurrency, seed=seed, mlflow=mlflow)
    parts = given(
        strategies=names_of(strategies),
        systems=_systems(system),
        modes=names_of(modes),
        llm=given(model=llm, base_url=base_url, cache=cache),
        judge=given(llm=given(model=judge)),
        budget=given(max_usd=max_usd, max_tokens=max_run_tokens),
        sample=given(limit=limit, part=part, ids=names_of(ids)),
    )
    how = RunOptions(resume or retry_failed, retry_failed, _shard(shard), report)
    _go(config, _with_settings(place | parts, settings), how, dry_run=dry_run, json=json)


def _systems(texts: list[str] | None) -> dict[str, dict[str, str]] | None:
    if not texts:
        return None
    from arena.config.systems import parse_systems

    return parse_systems(texts)


def _with_settings(options: dict[str, Any], settings: list[str] | None) -> dict[str, Any]:
    if not settings:
        return options
    from arena.config.loading import merge, parse_settings

    return merge(parse_settings(settings), options)


def _go(config: Path | None, options: dict[str, Any], how: RunOptions, *, dry_run: bool, json: bool) -> None:
    if dry_run and how.resume:
        raise ConfigError("--dry-run is about a new run, and --resume continues one: leave one of them out")
    if dry_run:
        _print_expected(config, options, json=json)
    else:
        _run_and_print(config, options, how, json=json)


def _run_and_print(config: Path | None, options: dict[str, Any], how: RunOptions, *, json: bool) -> None:
    from experiments.execution.start import launch, print_next_steps, track_outcome

    reporter = new_reporter(quiet=json)
    more: dict[str, Any] = given(shard=how.shard, retry_failed=how.retry_failed or None)
    outcome = launch(config, options, reporter, resume_run=how.resume, **more)
    print_board(outcome.store, outcome.board, json=json)
    page = None
    if how.report:
        from experiments.views.report import report_of

        page = report_of(outcome.store, reporter)
    mlflow_run = track_outcome(outcome, reporter) if outcome.mlflow else None  # with the page
    if not json:
        print_next_steps(outcome, mlflow_run, Console(), page)
    if outcome.too_many_failures:
        raise typer.Exit(TOO_MANY_FAILURES)


def _print_expected(config: Path | None, options: dict[str, Any], *, json: bool) -> None:
    from experiments.execution.dry_run import dry_run
    from experiments.execution.dry_run_table import dry_run_fields, dry_run_notes, dry_run_table
    from experiments.execution.start import settings_of

    expected = dry_run(settings_of(config, options), new_reporter(quiet=json))
    if json:
        put(as_json(dry_run_fields(expected)))
    else:
        print_table(dry_run_table(expected), dry_run_notes(expected), Console())


def _shard(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    match = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text)
    if match is None or int(match[1]) > int(match[2]):
        raise ConfigError(f"--shard {text!r}: write i/n with 1 <= i <= n, as in 1/3")
    return int(match[1]), int(match[2])


def names_of(text: str | None) -> list[str] | None:
    """Names parted by commas; those inside brackets belong to a setting: `self_rag:options=[yes,no]`."""
    return None if text is None else [name.strip() for name in _COMMA.split(text) if name.strip()]
