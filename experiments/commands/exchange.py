"""`arena import` and `arena export`: systems of other frameworks in, runs out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.cli_groups import MovedData, given
from experiments.terminal.tables import put


def import_(
    files: Annotated[list[Path], typer.Argument(help="JSON lines, one file a system; see docs/exchange.md.")],
    dataset: Annotated[str, typer.Option(help="What was asked, as for arena run.")],
    name: Annotated[
        list[str] | None, typer.Option(help="What to call a system; default: its file's name. Once per file, in order.")
    ] = None,
    llm: Annotated[str | None, typer.Option(help="PROVIDER:NAME that wrote the answers; its price is taken.")] = None,
    runs_dir: Annotated[Path | None, typer.Option(help="Where run folders go; default runs.")] = None,
    run_id: Annotated[str | None, typer.Option(help="Name of the run folder; default: from what is imported.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
) -> None:
    """Make a run of answers that another framework gave, to be scored, reported and compared as any other.

    A line: {"question_id": "q1", "answer": "Tammerhold", "retrieved_ids": ["d7", "d2"], "shown": [{"doc_id": "d7"}],
    "input_tokens": 812, "output_tokens": 9, "seconds": 1.4}. Only question_id is required.

        arena import my_rag.jsonl --dataset jsonl:data --run-id mine
        arena compare runs/RUN_ID runs/mine
    """
    from arena.report.console import print_leaderboard
    from experiments.studies.exchange.importing import import_runs
    from experiments.terminal.progress import Reporter
    from experiments.terminal.tables import Console

    options = {"dataset": dataset, **given(runs_dir=runs_dir, run_id=run_id)}
    imported = import_runs(files, options, name or (), llm, Reporter(Console(stderr=True), quiet=json))
    if json:
        put(imported.store.leaderboard_json(), end="", flush=True)
        return
    print_leaderboard(imported.board, Console())
    put(f"run folder   {imported.store.folder}")


def export(
    run_folder: Annotated[Path, typer.Argument(help="A run, as in runs/RUN_ID.")],
    out: Annotated[Path, typer.Option(help="Folder to write.")],
    format: Annotated[
        str,
        typer.Option(
            help="trec (run files and qrels), ranx, ragas (EvaluationDataset), csv, or answers (as arena import reads)."
        ),
    ] = "csv",
    dataset: MovedData = None,
) -> None:
    """Write a run in the format of another tool, one file per cell."""
    from experiments.studies.exchange.exporting import export_run

    exported = export_run(run_folder, format, out, dataset)
    for file in exported.files:
        put(exported.folder / file)
    for cell, number in exported.left_out.items():
        put(f"{cell}: {number} records have no place in this format and were left out")
    if exported.n_missing:
        put(f"warning: the run is not finished: {exported.n_missing} answers are missing", err=True)
