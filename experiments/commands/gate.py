"""`arena gate`: a run against a baseline; the exit code is for CI."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.cli_groups import MovedData


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
    from experiments.terminal.tables import Console

    verdict = gate_run(run_folder, baseline, policy, dataset)
    write_gate(verdict, Console(), markdown=markdown, junit=junit, json=json)
    if not verdict.passed:
        raise typer.Exit(1)
