"""`arena gate`, `sweep`, `calibrate`, `train-router`, `equalize` and `sample-size`: parse, call, print; no logic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from arena.errors import ConfigError
from experiments.cli.groups import MovedData, given, new_reporter
from experiments.terminal.tables import Console, put


def gate(
    run_folder: Annotated[Path, typer.Argument(help="The run to judge, as in runs/RUN_ID.")],
    baseline: Annotated[Path | None, typer.Option(help="The run it must not be worse than.")] = None,
    policy: Annotated[Path | None, typer.Option(help="YAML file of margins and floors; default: built in.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="File for a summary to put under a pull request.")] = None,
    junit: Annotated[Path | None, typer.Option(help="File for JUnit XML.")] = None,
    dataset: MovedData = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check that a run is not worse than a baseline by more than a margin, and not below floors. Asks no model.

    Ends with 1 if it is, and with 2 if that cannot be told. Without a baseline, floors and ceilings alone are checked.
    docs/gate.md has the rules, the policy file and a workflow for CI.

        arena gate runs/pr --baseline runs/main
        arena gate runs/pr --baseline runs/main --policy gate.yaml --markdown report.md --junit report.xml
    """
    from experiments.studies.gate.gate import gate_run
    from experiments.studies.gate.output import write_gate

    verdict = gate_run(run_folder, baseline, policy, dataset)
    write_gate(verdict, Console(), markdown=markdown, junit=junit, json=json)
    if not verdict.passed:
        raise typer.Exit(1)


def sweep(
    config: Annotated[Path, typer.Argument(help="YAML file: a run's settings and a `sweep` section.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the points and what they cost; run nothing.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run a config at several values of its settings, one at a time or all combinations. A stopped sweep goes on.

        arena sweep experiments/configs/sweep_k.yaml --dry-run
        arena sweep experiments/configs/sweep_k.yaml

    Exit code 3: at some point more questions failed than its `max_failure_share`.
    """
    from experiments.cli.run import TOO_MANY_FAILURES
    from experiments.studies.sweep.output import print_sweep
    from experiments.studies.sweep.sweep import run_sweep

    swept = run_sweep(config, new_reporter(quiet=json), dry_run=dry_run)
    print_sweep(swept, Console(), json=json)
    if swept.too_many_failures:
        raise typer.Exit(TOO_MANY_FAILURES)


def calibrate(
    run_folder: Annotated[Path, typer.Argument(help="A finished run on the dev part, as in runs/RUN_ID.")],
    target: Annotated[
        str | None, typer.Option(help="rerank, corrective, self_rag or router; default: all the run can tell of.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Config to write; default: calibrated.yaml in the folder.")] = None,
    dataset: MovedData = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Choose thresholds by what they cost and bring on dev questions, and write them as a config for the next run."""
    from experiments.studies.calibrate.calibrate import calibrate_run, print_calibration

    found = calibrate_run(run_folder, target, out, new_reporter(quiet=json), dataset)
    print_calibration(found, Console(), json=json)


def train_router(
    run_folder: Annotated[
        Path,
        typer.Argument(help="A finished run on the part dev of adaptive:policy=always_a, always_b and always_c."),
    ],
    out: Annotated[Path, typer.Option(help="Folder to make: adaptive:policy=router:router=FOLDER.")],
    eval_run: Annotated[
        Path | None,
        typer.Option("--eval", help="The same on the part eval, to measure on; default: cross-validation."),
    ] = None,
    model: Annotated[str, typer.Option(help="light (embedding + logistic regression), or t5:FOLDER.")] = "light",
    labels: Annotated[
        str, typer.Option(help="silver: outcomes alone; both: also priors where no way is right.")
    ] = "both",
    mode: Annotated[str | None, typer.Option(help="Retrieval mode, where the run has several.")] = None,
    cost_bias: Annotated[float, typer.Option(min=0, max=100, help="Preference for cheaper labels to measure.")] = 0.0,
    epochs: Annotated[int | None, typer.Option(min=1, help="Of a T5; default 35.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Default: that of the run.")] = None,
    trust_remote_code: Annotated[
        bool, typer.Option("--trust-remote-code", help="Run the embedding model's own code, if the run did.")
    ] = False,
    dataset: MovedData = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Train a router on dev questions, measure it on questions it cannot know, and write its folder and card."""
    if labels not in ("both", "silver"):
        raise ConfigError(f"--labels {labels!r}: write both or silver")
    from experiments.studies.router.train import TrainingRequest, print_router
    from experiments.studies.router.train import train_router as train

    request = TrainingRequest(
        run_folder,
        out,
        eval_run,
        model,
        "silver" if labels == "silver" else "both",
        mode,
        cost_bias,
        seed,
        epochs,
        dataset,
        trust_remote_code,
    )
    found = train(request, new_reporter(quiet=json))
    print_router(found, out, Console(), json=json)


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
    from arena.config.loading import load_config, merge, parse_settings
    from experiments.cli.run import names_of
    from experiments.studies.equalize.equalize import EqualizeRequest

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
    _go(EqualizeRequest(asked, per_question, target, tolerance, pilot, corrections, name), dry_run=dry_run, json=json)


def _go(request: Any, *, dry_run: bool, json: bool) -> None:
    from experiments.cli.run import TOO_MANY_FAILURES
    from experiments.studies.equalize.equalize import equalize as equalize_config
    from experiments.studies.equalize.output import expect_budget, print_equalized, print_expected
    from experiments.studies.equalize.runs import WarnsOnce

    reporter = new_reporter(quiet=json)
    if dry_run:
        print_expected(expect_budget(request, reporter), Console(), json=json)
        return
    found = equalize_config(request, reporter, WarnsOnce(Console(stderr=True)))
    print_equalized(found, Console(), json=json)
    if found.too_many_failures:
        raise typer.Exit(TOO_MANY_FAILURES)


def sample_size(
    difference: Annotated[float, typer.Argument(min=0.001, max=1.0, help="Of two cells' answer_em, as in 0.05.")],
    discordance: Annotated[
        float, typer.Option(min=0.001, max=1.0, help="Share of the questions on which the two differ.")
    ] = 0.2,
) -> None:
    """Print how many questions show such a difference, with 80 % power at the 5 % level, to a paired test."""
    from experiments.execution.budget import questions_needed

    put(f"{questions_needed(difference, discordance):,} questions")
