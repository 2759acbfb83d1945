"""From what the user typed to a run: which settings, new or continued."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from arena.config import RunConfig, load_config, merge, validate_config
from arena.errors import ConfigError
from arena.store import RunStore, latest_run
from experiments.progress import Reporter
from experiments.study import Outcome, prepare, resume, start

QUICKSTART = "quickstart.yaml"


def launch(config: Path | None, options: Mapping[str, Any], reporter: Reporter, *, resume_run: bool = False) -> Outcome:
    """Start or continue a run.

    Args:
        config: settings file (None: the quickstart's, or the plain defaults when `options` name a dataset).
        options: settings that go over the file's, nested as in `RunConfig`.
        reporter: who hears of progress.
        resume_run: continue run `options["run_id"]` of `options["runs_dir"]`, or the latest unfinished one.
    """
    if resume_run:
        return _continue(config, options, reporter)
    return start(prepare(_settings(config, options), reporter), reporter)


def _settings(config: Path | None, options: Mapping[str, Any]) -> RunConfig:
    path = config if config or "dataset" in options else Path(str(files("experiments") / "configs" / QUICKSTART))
    return load_config(path, options)


def _continue(config: Path | None, options: Mapping[str, Any], reporter: Reporter) -> Outcome:
    if config is not None:
        raise ConfigError(f"--resume takes its settings from the run, not from {str(config)!r}: leave the file out")
    runs_dir = Path(options.get("runs_dir", RunConfig().runs_dir))
    run_id = options.get("run_id")
    store = RunStore.open(runs_dir / run_id) if run_id else latest_run(runs_dir, unfinished=True)
    old = store.manifest()["config"]
    where_it_is = {"runs_dir": str(runs_dir), "run_id": store.run_id}
    settings = validate_config(merge(merge(old, options), where_it_is), f"run {store.run_id!r}")
    reporter.say(f"continuing {store.run_id}")
    return resume(prepare(settings, reporter), store, reporter)
