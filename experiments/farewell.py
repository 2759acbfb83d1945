"""What a finished run says at its end: where everything is, and where to look next."""

from __future__ import annotations

from rich.console import Console

from experiments.study import Outcome


def print_next_steps(outcome: Outcome, mlflow_run: str | None, console: Console) -> None:
    """Print the run's places and the commands a newcomer wants next."""
    lines = [f"run folder   {outcome.store.folder}  (records.jsonl, scores.parquet, leaderboard.json)"]
    if mlflow_run:
        lines.append(f"MLflow       run {mlflow_run}; `make ui` opens the store beside the runs")
    lines += [
        "your data    arena run --dataset jsonl:DIR      (corpus.jsonl and questions.jsonl; see README)",
        "your model   arena run --llm openai:NAME --base-url http://127.0.0.1:8000/v1",
    ]
    if outcome.too_many_failures:
        share = f"{outcome.max_failure_share:.0%}"
        lines.insert(0, f"FAILED       more than {share} of all questions failed; see `failure` in records.jsonl")
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
