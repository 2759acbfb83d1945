"""`arena judge`, `merge`, `import`, `export`, `score`, `cost`, `verify` and `track`: parse, call, print; no logic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arena.errors import RunInterrupted, TrackingError, UserError
from experiments.cli.groups import MovedData, given, new_reporter, print_board
from experiments.terminal.tables import Console, as_json, print_table, put


def judge(
    run_folder: Annotated[Path, typer.Argument(help="A finished run, as in runs/RUN_ID.")],
    judge: Annotated[str | None, typer.Option(help="PROVIDER:NAME; default: the run's own judge.")] = None,
    config: Annotated[Path | None, typer.Option(help="YAML file whose `judge` is taken instead of the run's.")] = None,
    base_url: Annotated[str | None, typer.Option(help="Any OpenAI-compatible server (vLLM, llama.cpp, ...).")] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            help="Comma separated: answer_accuracy,faithfulness,context_precision,context_recall,answer_relevancy,"
            "answer_correctness; default: the first two."
        ),
    ] = None,
    repeats: Annotated[int | None, typer.Option(min=1, help="Verdicts on each answer, for the judge's own sd.")] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help='Labels by people: {"question_id": "q1", "correct": true, "cell": KEY} a line.'),
    ] = None,
    dataset: MovedData = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the tables.")] = False,
) -> None:
    """Let a model judge the answers of a finished run with RAGAS, and derive its leaderboard anew.

    What was judged before is not asked again; a stopped judging goes on with the same command.

        arena judge runs/RUN_ID --judge openai:gpt-4.1
        arena judge runs/RUN_ID --judge openai:my-model --base-url http://127.0.0.1:8000/v1 --metrics faithfulness
        arena judge runs/RUN_ID --labels people.jsonl
    """
    from arena.report.section import print_section
    from arena.report.sections.judges import judges
    from experiments.execution.judging import judge_folder
    from experiments.views.report import renew_report

    options = given(
        llm=given(model=judge, base_url=base_url),
        metrics=[name.strip() for name in metrics.split(",") if name.strip()] if metrics else None,
        repeats=repeats,
    )
    reporter = new_reporter(quiet=json)
    try:
        store, board = judge_folder(run_folder, config, options, labels, reporter, dataset)
    except RunInterrupted:  # what was judged counts all the same
        renew_report(run_folder, reporter, dataset)
        raise
    renew_report(run_folder, reporter, dataset)
    print_board(store, board, json=json)
    if not json:
        print_section(judges(board), Console())


def merge(
    run_folders: Annotated[list[Path], typer.Argument(help="The folders of all shares, as in runs/a runs/b.")],
    into: Annotated[str, typer.Option(help="Name of the run folder to make.")],
    runs_dir: Annotated[Path | None, typer.Option(help="Where it goes; default: beside the first share.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
) -> None:
    """Join runs of one plan, made by `arena run --shard i/n` on one machine or many, and derive the leaderboard.

    They must agree in everything that can change a result. Where questions are missing, the merged run says which
    cells lack how many, ends with 1, and can be continued with `arena run --resume`.

        arena merge runs/a runs/b runs/c --into whole
    """
    from experiments.execution.merging import merge_runs, merged_folder, missing_text
    from experiments.execution.start import Outcome, print_next_steps
    from experiments.views.report import report_of

    reporter = new_reporter(quiet=json)
    target = merged_folder(runs_dir or run_folders[0].resolve().parent, into)
    merged = merge_runs(run_folders, target, reporter)
    if merged.board is None:
        reporter.warn(missing_text(merged))
        raise typer.Exit(1)
    print_board(merged.store, merged.board, json=json)
    page = report_of(merged.store, reporter)
    if not json:
        share = merged.store.manifest()["config"]["max_failure_share"]
        print_next_steps(Outcome(merged.store, merged.board, share, mlflow=False), None, Console(), page)


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
    from experiments.studies.exchange.importing import import_runs

    options = {"dataset": dataset, **given(runs_dir=runs_dir, run_id=run_id)}
    imported = import_runs(files, options, name or (), llm, new_reporter(quiet=json))
    print_board(imported.store, imported.board, json=json)
    if not json:
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
    if exported.unfinished:
        put(f"warning: {exported.unfinished}", err=True)


def score(
    run_folder: Annotated[Path | None, typer.Argument(help="A run, as in runs/RUN_ID.")] = None,
    predictions: Annotated[
        Path | None, typer.Option(help="Predictions in MuSiQue's official format, one JSON object a line.")
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(help="What --predictions are scored against without a run; where the run's data lie now."),
    ] = None,
    details: Annotated[bool, typer.Option("--details", help="Print all that `arena show` prints.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Compute the scores of a run anew from its folder, and print the leaderboard. Asks no model.

    With --predictions they are a row of it, and the run's files stay as they are; without a run, a table of their own
    under MuSiQue's official figures.

        arena score runs/RUN_ID
        arena score runs/RUN_ID --predictions predictions.jsonl
        arena score --predictions predictions.jsonl --dataset musique:dev.jsonl --json
    """
    from arena.report.console import print_details, print_leaderboard
    from experiments.execution.predictions import official_line, scored, scored_json

    board, official = scored(run_folder, predictions, dataset, new_reporter(quiet=json))
    if json:
        put(scored_json(board, official))
        return
    console = Console()
    if official is not None:
        console.print(official_line(official), markup=False, highlight=False, soft_wrap=True)
    print_leaderboard(board, console)
    if details:
        print_details(board, console)


def cost(
    run_folder: Annotated[Path, typer.Argument(help="A run, finished or not, as in runs/RUN_ID.")],
    config: Annotated[Path | None, typer.Option(help="YAML file whose `prices` go over the run's.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print what a run used and cost, by cell and role, and what judging took beside it.

    Asks no model, so a run can be priced anew at any time.
    """
    from experiments.views.cost import cost_fields, cost_notes, cost_of, cost_table

    found = cost_of(run_folder, config)
    if json:
        put(as_json(cost_fields(found)))
    else:
        print_table(cost_table(found), cost_notes(found), Console())


def verify(
    run_folder: Annotated[Path, typer.Argument(help="A run, as in runs/RUN_ID.")],
    dataset: MovedData = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Derive everything that a run wrote down again, and say what differs. Asks no model and writes nothing.

    Ends with 1 if anything differs, and with 2 if the folder cannot be checked at all.
    """
    from experiments.views.verify import checks_fields, checks_table, is_verified, verdict_text, verify_run

    checks = verify_run(run_folder, dataset)
    if json:
        put(as_json(checks_fields(run_folder.resolve().name, checks)))
    else:
        print_table(checks_table(checks), [verdict_text(run_folder, checks)], Console())
    if not is_verified(checks):
        raise typer.Exit(1)


def track(
    run_folder: Annotated[Path, typer.Argument(help="A finished run, as in runs/RUN_ID.")],
    traces: Annotated[
        int | None,
        typer.Option(min=0, help="Questions per cell that become traces, failures first; default: the run's setting."),
    ] = None,
    dataset: MovedData = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Copy a finished run to MLflow: a parent run, a run for every cell, and traces of some questions.

    Goes to MLFLOW_TRACKING_URI, else to mlflow.db beside the run folders. A run that is there as it is stays as it is;
    one that has changed since is replaced.
    """
    from arena import tracking
    from arena.config import tracking_uri, validate_config
    from arena.store import RunStore

    store = RunStore.open(run_folder, dataset)
    if traces is None:
        traces = validate_config(store.manifest()["config"], f"run {store.run_id!r}").traces
    try:
        tracked = tracking.track(store, tracking_uri(), traces=traces)
    except TrackingError as error:
        raise UserError(
            f"run {store.run_id!r} is not in MLflow: {error}; the run folder has everything, so try again at any time"
        ) from error
    if json:
        put(as_json(tracked))
        return
    put(f"{tracked.change}: MLflow run {tracked.run_id}, {tracked.cells} cells, at {tracked.uri}")
    if tracked.change != "unchanged":
        put(f"{tracked.traces} traces")
    for note in tracked.notes:
        put(note)
