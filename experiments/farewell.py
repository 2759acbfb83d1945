"""What a finished run shows: the leaderboard, and where to look next."""

from __future__ import annotations

from rich.console import Console

from arena.report.console import print_leaderboard
from experiments.study import Outcome


def print_outcome(outcome: Outcome, console: Console) -> None:
    """Print the table and the next steps."""
    print_leaderboard(outcome.board, console)
    lines = [
        f"run folder   {outcome.store.folder}  (records.jsonl, scores.parquet, leaderboard.json)",
        "your data    arena run --dataset jsonl:DIR      (corpus.jsonl and questions.jsonl; see README)",
        "your model   arena run --llm openai:NAME --base-url http://127.0.0.1:8000/v1",
    ]
    if outcome.mlflow_run:
        lines.insert(1, f"MLflow       run {outcome.mlflow_run}; `make ui` opens the store beside the runs")
    if outcome.too_many_failures:
        share = f"{outcome.max_failure_share:.0%}"
        lines.insert(0, f"FAILED       more than {share} of all questions failed; see `failure` in records.jsonl")
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
