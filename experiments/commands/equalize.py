"""`arena equalize`: the same spending per question for every strategy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from experiments.cli_groups import given


def equalize(
    config: Annotated[Path | None, typer.Argument(help="YAML file of a run's settings; options go over it.")] = None,
    per_question: Annotated[Literal["tokens", "usd", "calls"], typer.Option(help="What is made equal.")] = "tokens",
    target: Annotated[
        float | None, typer.Option(help="What each spends per question; default: as the dearest that all can reach.")
    ] = None,
    tolerance: Annotated[float, typer.Option(help="Share of the target by which one may miss.")] = 0.05,
    pilot: Annotated[int | None, typer.Option(min=2, help="Questions of a pilot run, of the part dev.")] = None,
    corrections: Annotated[
        int, typer.Option(min=0, help="Further runs of one that misses because the pilots were off.")
    ] = 2,
    dataset: Annotated[str | None, typer.Option(help="As for arena run.")] = None,
    strategies: Annotated[str | None, typer.Option(help="Comma separated, as for arena run.")] = None,
    modes: Annotated[str | None, typer.Option(help="Comma separated: dense,hybrid,hybrid_rerank.")] = None,
    llm: Annotated[str | None, typer.Option(help="PROVIDER:NAME, local:PATH.gguf, fake:, ...")] = None,
    runs_dir: Annotated[Path | None, typer.Option(help="Where the folder goes; default runs.")] = None,
    run_id: Annotated[str | None, typer.Option(help="Name of the folder; default: by config and settings.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Any setting of a config, as in retrieval.k=8; repeatable.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what it may cost at most; spend nothing.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Find settings under which all strategies spend the same per question, and compare them there.

    Settings are found by pilot runs on the part dev. The comparison asks the config's own questions, beside a run of
    the config as it is. A stopped one goes on with the same command.

        arena equalize study.yaml --per-question tokens --dry-run
        arena equalize --dataset world --strategies vanilla,ircot,self_rag --modes hybrid --llm fake:

    Exit code 3: in some run of the comparison more questions failed than its `max_failure_share`.
    """
    from arena.config import load_config, merge, parse_settings
    from experiments.commands.run import names_of
    from experiments.studies.equalize.equalize import Request

    options = given(
        dataset=dataset,
        strategies=names_of(strategies),
        modes=names_of(modes),
        llm=given(model=llm),
        runs_dir=runs_dir,
        run_id=run_id,
    )
    asked = load_config(config, merge(parse_settings(settings or ()), options))
    name = config.stem if config else "arena"
    _go(Request(asked, per_question, target, tolerance, pilot, corrections, name), dry_run=dry_run, json=json)


def _go(request: Any, *, dry_run: bool, json: bool) -> None:
    from experiments.commands.run import TOO_MANY_FAILURES
    from experiments.studies.equalize.equalize import equalize as equalize_config
    from experiments.studies.equalize.output import expect_budget, print_equalized, print_expected
    from experiments.studies.equalize.runs import WarnsOnce
    from experiments.terminal.progress import Reporter
    from experiments.terminal.tables import Console

    reporter = Reporter(Console(stderr=True), quiet=json)
    if dry_run:
        print_expected(expect_budget(request, reporter), Console(), json=json)
        return
    found = equalize_config(request, reporter, WarnsOnce(Console(stderr=True)))
    print_equalized(found, Console(), json=json)
    if found.too_many_failures:
        raise typer.Exit(TOO_MANY_FAILURES)
