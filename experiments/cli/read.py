"""`arena show`, `report`, `serve`, `inspect`, `compare`, `papers` and `review`: parse, call, print; no logic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.cli.groups import MovedData, new_reporter
from experiments.terminal.tables import Console, put


def show(
    run_folder: Annotated[Path, typer.Argument(help="A finished run, as in runs/RUN_ID.")],
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
) -> None:
    """Print the leaderboard of a finished run, and what it rests on.

    Comparisons, failures, symptoms and where to act, controllers, judges, figures by kind and hops.
    """
    from arena.leaderboard.build import read_leaderboard, staleness
    from arena.report.console import print_details, print_leaderboard, render_markdown
    from arena.store import RunStore

    store = RunStore.open(run_folder)
    board = read_leaderboard(store)
    if stale := staleness(store):
        new_reporter().warn(stale)
    if markdown:
        put(render_markdown(board))
    else:
        console = Console()
        print_leaderboard(board, console)
        print_details(board, console)


def report(
    run_folder: Annotated[Path, typer.Argument(help="A run, as in runs/RUN_ID; it need not be finished.")],
    out: Annotated[Path | None, typer.Option(help="File to write; default: report.html in the run folder.")] = None,
    dataset: MovedData = None,
) -> None:
    """Write a run's report: one HTML file that needs no network. Asks no model.

    arena report runs/RUN_ID
    arena report runs/RUN_ID --out corrective_vs_vanilla.html
    """
    from experiments.views.report import write_report

    put(write_report(run_folder, out, new_reporter(), data_at=dataset))


def serve(
    runs_dir: Annotated[Path, typer.Argument(help="Where the run folders are.")] = Path("runs"),
    host: Annotated[str, typer.Option(help="Address to listen on; default: this machine only.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free port.")] = 8000,
) -> None:
    """Show all runs, and those that go on live, on one local page. Read-only; Ctrl-C ends it."""
    from experiments.views.serve.app import serve_runs

    serve_runs(runs_dir, host, port, new_reporter())


def inspect(
    run_folder: Annotated[Path, typer.Argument(help="A run, as in runs/RUN_ID.")],
    question_id: Annotated[str, typer.Argument(help="A question of the run.")],
    cell: Annotated[list[str] | None, typer.Option(help="A cell to show; default: all. Repeatable.")] = None,
    dataset: MovedData = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show one question: what was retrieved, each decision, the answers, scores and verdicts, tokens and seconds."""
    from experiments.views.inspect import inspect_question, print_question

    print_question(inspect_question(run_folder, question_id, cell or (), dataset), Console(), json=json)


def compare(
    run_folders: Annotated[list[Path], typer.Argument(help="Two runs or more, as in runs/RUN_ID.")],
    dataset: MovedData = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show several runs as one leaderboard, and in which settings they differ. Asks no model and writes nothing.

    The runs must be on the same data. They are compared on the questions that all of them asked.

        arena compare runs/before runs/after
        arena compare runs/before runs/after --json
    """
    from experiments.studies.compare.compare import compare_runs
    from experiments.studies.compare.table import print_compared

    compared = compare_runs(run_folders, new_reporter(quiet=json), dataset)
    print_compared(compared, Console(), json=json)


papers_app = typer.Typer(help="Published figures: list them, hold a run beside them.", no_args_is_help=True)


@papers_app.command("list")
def papers_list(
    paper: Annotated[str | None, typer.Option(help="Part of a paper's name.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Part of a dataset's name.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show published figures with their settings and where they stand."""
    from experiments.studies.papers.output import list_numbers, print_numbers

    print_numbers(list_numbers(paper, dataset), Console(), json=json)


@papers_app.command("compare")
def papers_compare(
    run_folder: Annotated[Path, typer.Argument(help="A run, as in runs/RUN_ID.")],
    dataset: MovedData = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Hold a run beside the published figures that it could be held beside, and name each setting that differs."""
    from arena.leaderboard.build import read_leaderboard, staleness
    from arena.store import RunStore
    from experiments.studies.papers.compare import compare_with_papers
    from experiments.studies.papers.output import print_comparisons

    store = RunStore.open(run_folder, dataset)
    read_leaderboard(store)  # a run without one has nothing to compare, and this says how to get one
    if stale := staleness(store):
        new_reporter().warn(stale)
    print_comparisons(compare_with_papers(run_folder, dataset), Console(), json=json)


@papers_app.command("questions")
def papers_questions(
    dataset: Annotated[str, typer.Argument(help="MuSiQue's dev file, as musique:musique_ans_v1.0_dev.jsonl.")],
) -> None:
    """Print the ids of the 500 questions that IRCoT and Adaptive-RAG were tested on, for `arena run --ids`.

    arena run study.yaml --ids "$(arena papers questions musique:musique_ans_v1.0_dev.jsonl)"
    """
    from arena.datasets import load_dataset
    from experiments.studies.papers.numbers import draw

    put(",".join(draw([one.question_id for one in load_dataset(dataset).questions])))


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
    from experiments.views.report import renew_report

    reporter = new_reporter(quiet=json)
    found = import_sheets(run_folder, sheets, reporter, dataset)
    renew_report(run_folder, reporter, dataset)
    print_review(found, Console(), json=json)
