"""From what the user typed to a run: which settings, new or continued."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from arena.config import RunConfig, load_config, merge, validate_config
from arena.errors import ConfigError
from arena.store import RunStore, latest_run
from experiments.prepared import prepare
from experiments.progress import Reporter
from experiments.study import Outcome, resume, start

QUICKSTART = "quickstart.yaml"
_TYPED = "the command line"


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
    return start(prepare(settings_of(config, options), reporter), reporter)


def settings_of(config: Path | None, options: Mapping[str, Any]) -> RunConfig:
    """The settings of a new run.

    The quickstart's limits suit its own very small model: another model brings back the defaults, and
    `--limit` holds for every cell.
    """
    if config is not None or "dataset" in options:
        return load_config(config, options)
    quickstart = load_config(Path(str(files("experiments") / "configs" / QUICKSTART)), {}).model_dump(
        exclude_unset=True
    )
    if "model" in options.get("llm", {}):
        del quickstart["llm"]["max_tokens"]
        del quickstart["sample"]["model_limit"]
    elif "limit" in options.get("sample", {}):
        del quickstart["sample"]["model_limit"]
    return validate_config(merge(quickstart, options), _TYPED)


def _continue(config: Path | None, options: Mapping[str, Any], reporter: Reporter) -> Outcome:
    if config is not None:
        raise ConfigError(f"--resume takes its settings from the run, not from {str(config)!r}: leave the file out")
    asked = validate_config({name: options[name] for name in ("runs_dir", "run_id") if name in options}, _TYPED)
    runs_dir, run_id = asked.runs_dir, asked.run_id
    store = RunStore.open(runs_dir / run_id) if run_id else latest_run(runs_dir, unfinished=True)
    old = store.manifest()["config"]
    where_it_is = {"runs_dir": str(runs_dir), "run_id": store.run_id}
    settings = validate_config(merge(merge(old, options), where_it_is), f"run {store.run_id!r}")
    reporter.say(f"continuing {store.run_id}")
    return resume(prepare(settings, reporter), store, reporter)
