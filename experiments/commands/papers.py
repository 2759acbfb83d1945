"""`arena papers`: published figures, alone and beside a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.cli_groups import MovedData
from experiments.terminal.tables import put

papers_app = typer.Typer(help="Published figures: list them, hold a run beside them.", no_args_is_help=True)


@papers_app.command("list")
def papers_list(
    paper: Annotated[str | None, typer.Option(help="Part of a paper's name.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Part of a dataset's name.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show published figures with their settings and where they stand."""
    from experiments.studies.papers.output import list_numbers, print_numbers
    from experiments.terminal.tables import Console

    print_numbers(list_numbers(paper, dataset), Console(), json=json)


@papers_app.command("compare")
def papers_compare(
    run_folder: Annotated[Path, typer.Argument(help="A run, as in runs/RUN_ID.")],
    dataset: MovedData = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Hold a run beside the published figures that it could be held beside, and name each setting that differs."""
    from arena.store import RunStore
    from experiments.run.start import read_leaderboard, staleness
    from experiments.studies.papers.compare import compare_with_papers, print_comparisons
    from experiments.terminal.progress import Reporter
    from experiments.terminal.tables import Console

    store = RunStore.open(run_folder, dataset)
    read_leaderboard(store)  # a run without one has nothing to compare, and this says how to get one
    if stale := staleness(store):
        Reporter(Console(stderr=True)).warn(stale)
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
