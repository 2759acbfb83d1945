"""Judging a finished run, by its own judge or by another."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena.config import RunConfig, load_config, merge, validate_config
from arena.errors import ConfigError, DatasetError, RunStoreError
from arena.judges.labels import read_labels
from arena.leaderboard.build import Leaderboard
from arena.store import FINISHED, LABELS, RunStore
from experiments.judging.run import judge_past_run
from experiments.process.resuming import resume_command
from experiments.scoring.conclusion import PastRun, conclude_run, open_past_run
from experiments.terminal.progress import Reporter


def judge_folder(
    run_folder: Path,
    judge_from: Path | None,
    options: Mapping[str, Any],
    labels: Path | None,
    reporter: Reporter,
    data_at: str | None = None,
) -> tuple[RunStore, Leaderboard]:
    """Judge what has no verdict yet, and derive the run's leaderboard anew.

    Args:
        run_folder: a finished run.
        judge_from: a config file whose `judge` it is (None: the run's own).
        options: settings over its, nested as in `JudgeConfig`; with another model than the run's own, over none.
        labels: people's labels of its answers, to be kept in the run folder (None: those that are there).
        reporter: who hears of progress.
        data_at: where its dataset lies now (None: where its settings say).

    Raises:
        RunStoreError: there is no finished run in `run_folder`.
        ConfigError: there is no judge, or a setting of it is none.
        DatasetError: `labels` cannot be read.
        RunInterrupted: the judging was stopped; verdicts are kept.
    """
    store = RunStore.open(run_folder, data_at)
    with store.holding():
        run = open_past_run(store)
        if run.manifest["status"] != FINISHED:
            raise RunStoreError(
                f"run {store.run_id!r} is not finished: go on with {resume_command(store)}, then judge it"
            )
        config = _with_judge(run, judge_from, options)
        if labels is not None:
            store.write_labels(_checked(run, labels))
            store.note_kept(LABELS)
        again = f"arena judge {shlex.quote(str(store.folder))}"
        judge_past_run(replace(run, config=config), reporter, again=again)
        store.seal(run.plan.keys())
        return store, conclude_run(store, reporter, dataset=run.dataset, config=config)


def _with_judge(run: PastRun, judge_from: Path | None, options: Mapping[str, Any]) -> RunConfig:
    """The run's settings, with the judge that is asked for."""
    config = run.config if judge_from is None else load_config(judge_from, {})
    known = config.judge.model_dump(mode="json") if config.judge else None
    model = options.get("llm", {}).get("model")
    if known is None and model is None:
        where = f"run {run.store.run_id!r}" if judge_from is None else repr(str(judge_from))
        raise ConfigError(f"{where} names no judge: name one with --judge PROVIDER:NAME")
    kept = known if known and (judge_from or model in (None, known["llm"]["model"])) else {}
    settings = run.config.model_dump(mode="json") | {"judge": merge(kept, options)}
    return validate_config(settings, f"run {run.store.run_id!r}")


def _checked(run: PastRun, path: Path) -> str:
    """The text of a file of labels."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"cannot read labels {str(path)!r}: {error}") from None
    read_labels(text, [planned.cell.key for planned in run.plan.cells if planned.cell.llm], str(path))
    return text
