"""From what the user typed to a run: which settings, new or continued."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from arena.config import RunConfig, load_config, merge, tracking_uri, validate_config
from arena.errors import ConfigError
from arena.plan import Shard
from arena.store import RunStore, latest_run
from arena.tracking import check_store
from experiments.manifests.extending import check_version
from experiments.runs.study import Outcome, resume, start
from experiments.setup.prepared import prepare
from experiments.terminal.progress import Reporter

QUICKSTART = "quickstart.yaml"
_TYPED = "the command line"


def launch(
    config: Path | None,
    options: Mapping[str, Any],
    reporter: Reporter,
    *,
    resume_run: bool = False,
    retry_failed: bool = False,
    shard: tuple[int, int] | None = None,
) -> Outcome:
    """Start or continue a run.

    Args:
        config: settings file (None: the quickstart's, or the plain defaults when `options` name a dataset).
        options: settings that go over the file's, nested as in `RunConfig`.
        reporter: who hears of progress.
        resume_run: continue run `options["run_id"]` of `options["runs_dir"]`, or the latest unfinished one.
        retry_failed: continue it, and ask again what failed; without a name, the latest run.
        shard: (i, n): ask only the i-th of n shares of the questions, into a run folder of its own.
    """
    share = Shard(*shard) if shard else None
    if resume_run or retry_failed:
        return _continue(config, options, reporter, retry_failed=retry_failed, share=share)
    settings = settings_of(config, options)
    _check_copy(settings)
    return start(prepare(settings, reporter, shard=share), reporter)


def settings_of(config: Path | None, options: Mapping[str, Any]) -> RunConfig:
    """The settings of a new run.

    The quickstart's limits suit its own very small model: another model brings back the defaults, and
    `--limit` holds for every cell. A dataset with neither a file nor a model gets a first look.
    """
    if config is None and "dataset" in options and "model" not in options.get("llm", {}):
        return validate_config(merge(_first_look(options), options), _TYPED)
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


def _first_look(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a first look at own data leaves out, so that the bundled model is done within minutes.

    One retrieval mode, and an even sample for whatever asks the model, as in the quickstart; all questions where
    `--limit` says how many.
    """
    limited = "limit" in options.get("sample", {})
    sample = {} if limited else {"sample": {"model_limit": 6, "balance": "even"}}
    return {"modes": ["hybrid"], "llm": {"max_tokens": 32}, **sample}


def _continue(
    config: Path | None, options: Mapping[str, Any], reporter: Reporter, *, retry_failed: bool, share: Shard | None
) -> Outcome:
    if config is not None:
        raise ConfigError(f"--resume takes its settings from the run, not from {str(config)!r}: leave the file out")
    asked = validate_config({name: options[name] for name in ("runs_dir", "run_id") if name in options}, _TYPED)
    runs_dir, run_id = asked.runs_dir, asked.run_id
    store = RunStore.open(runs_dir / run_id) if run_id else latest_run(runs_dir, unfinished=not retry_failed)
    check_version(store)
    shard = store.whole_plan().shard
    if share not in (None, shard):
        raise ConfigError(f"run {store.run_id!r} is {_named(shard)}, not {_named(share)}: leave --shard out")
    old = store.manifest()["config"]
    where_it_is = {"runs_dir": str(runs_dir), "run_id": store.run_id}
    _refuse_code_unasked(store, old, options)
    settings = validate_config(merge(merge(old, options), where_it_is), f"run {store.run_id!r}")
    _check_copy(settings)
    reporter.say(f"continuing {store.run_id}")
    return resume(prepare(settings, reporter, shard=shard), store, reporter, retry_failed=retry_failed)


def _check_copy(settings: RunConfig) -> None:
    """What would keep the run from MLflow for good is said before it, and not after hours."""
    if settings.mlflow:
        check_store(settings.runs_dir, tracking_uri())


def _refuse_code_unasked(store: RunStore, old: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """A run folder may be anyone's: code that its settings name is run only if the user names it too."""
    tool = (old.get("external") or {}).get("tool")
    if tool is None or "tool" in (options.get("external") or {}):
        return
    raise ConfigError(
        f"the settings of run {store.run_id!r} have the code {tool!r} called as external.tool; to go on, say that you "
        f"trust it: --set external.tool={tool}"
    )


def _named(shard: Shard | None) -> str:
    return f"shard {shard}" if shard else "a whole run"
