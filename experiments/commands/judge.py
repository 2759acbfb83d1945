"""`arena judge`: parse, call, print; no logic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.cli_groups import MovedData, given
from experiments.terminal.tables import put


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
    from arena.report.console import print_leaderboard
    from arena.report.sections.judges import print_judges
    from experiments.run.judging import judge_folder
    from experiments.terminal.progress import Reporter
    from experiments.terminal.tables import Console

    options = given(
        llm=given(model=judge, base_url=base_url),
        metrics=[name.strip() for name in metrics.split(",") if name.strip()] if metrics else None,
        repeats=repeats,
    )
    store, board = judge_folder(
        run_folder, config, options, labels, Reporter(Console(stderr=True), quiet=json), dataset
    )
    if json:
        put(store.leaderboard_json(), end="", flush=True)
        return
    console = Console()
    print_leaderboard(board, console)
    print_judges(board, console)
