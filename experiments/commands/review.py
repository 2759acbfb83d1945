"""`arena review`: answers out to people, and their judgements in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.cli_groups import MovedData
from experiments.terminal.tables import put

review_app = typer.Typer(help="Let people judge answers: export a sheet, import what they said.", no_args_is_help=True)


@review_app.command("export")
def review_export(
    run_folder: Annotated[Path, typer.Argument(help="A finished run, as in runs/RUN_ID.")],
    out: Annotated[Path, typer.Option(help="CSV file to write; one that exists is not replaced.")],
    limit: Annotated[int | None, typer.Option(min=1, help="Answers per cell, a seeded sample; default: all.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the sample and of the order of rows.")] = 0,
    gold: Annotated[bool, typer.Option("--gold/--hide-gold", help="Whether reviewers see the gold answers.")] = True,
    dataset: MovedData = None,
) -> None:
    """Write answers beside their passages as a sheet, one column per criterion, in an order that hides strategies.

    arena review export runs/RUN_ID --out anna.csv --limit 10
    """
    from experiments.studies.review.sheet import export_sheet

    put(export_sheet(run_folder, out, limit=limit, seed=seed, gold=gold, data_at=dataset))


@review_app.command("import")
def review_import(
    run_folder: Annotated[Path, typer.Argument(help="The run whose answers were judged.")],
    sheets: Annotated[list[Path], typer.Argument(help="Filled sheets, one or more per rater.")],
    dataset: MovedData = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Read filled sheets: agreement between raters, within a rater and with the judge; labels for the judge card.

    arena review import runs/RUN_ID anna.csv ben.csv
    """
    from experiments.studies.review.agreement import import_sheets
    from experiments.studies.review.output import print_review
    from experiments.terminal.progress import Reporter
    from experiments.terminal.tables import Console

    found = import_sheets(run_folder, sheets, Reporter(Console(stderr=True), quiet=json), dataset)
    print_review(found, Console(), json=json)
