"""What a finished run says at its end: where everything is, and where to look next."""

from __future__ import annotations

import shlex
from pathlib import Path

from arena.config import tracking_uri
from arena.tracking.database import local_uri
from experiments.runs.study import Outcome
from experiments.terminal.console import Console


def print_next_steps(outcome: Outcome, mlflow_run: str | None, console: Console, page: Path | None = None) -> None:
    """Print the run's places and the commands that come next: of a shard, the merge; else what a newcomer wants.

    `page`: the report that was written (None: none was).
    """
    store = outcome.store
    folder, runs_dir = shlex.quote(str(store.folder)), shlex.quote(str(store.folder.parent))
    lines = [f"run folder   {store.folder}  (records.jsonl, scores.parquet, leaderboard.json)"]
    if page:
        lines.append(f"report       {page}      (opens in any browser, without a network)")
    if mlflow_run:
        lines.append(f"MLflow       run {mlflow_run}; {_opens(store.folder.parent)}")
    if shard := store.whole_plan().shard:
        lines.append(
            f"to join      arena merge {folder} ... --into NAME      (the folders of all {shard.of} shards; this is "
            f"number {shard.index})"
        )
    else:
        lines.append(f"why          arena show {folder}      (which differences count, why answers fail, where to act)")
        config = store.manifest()["config"]
        if str(config["dataset"]).partition(":")[0] == "world":
            lines.append(
                "your data    arena run --dataset jsonl:DIR      (corpus.jsonl and questions.jsonl; see README)"
            )
        if str(config["llm"]["model"]).partition(":")[0] in ("fake", "local"):
            lines.append("your model   arena run --llm openai:NAME --base-url http://127.0.0.1:8000/v1")
    if outcome.too_many_failures:
        lines.insert(
            0,
            f"FAILED       more than {outcome.max_failure_share:.0%} of all questions failed; `failure` in "
            "records.jsonl says of what. Ask them again: "
            f"arena run --retry-failed --run-id {store.run_id} --runs-dir {runs_dir}",
        )
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _opens(runs_dir: Path) -> str:
    """What opens the store that the run was copied to."""
    if tracking_uri() is not None:
        return "in the store of MLFLOW_TRACKING_URI"
    return f"mlflow ui --backend-store-uri {shlex.quote(local_uri(runs_dir))} opens it"
