"""One `arena run`, from what the user typed to a leaderboard, and its continuation after a stop.

The last step puts the journals in order, derives everything from them and closes the manifest. Then it is said where
everything is and where to look next.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import chain, count
from pathlib import Path
from typing import Any

from arena.config import RunConfig, load_config, merge, tracking_uri, validate_config
from arena.errors import ConfigError, TrackingError
from arena.leaderboard.build import CellSummary, Leaderboard
from arena.plan import Shard
from arena.runner import plan_keys
from arena.store import FINISHED, RunStore
from arena.store.journal import JournalWriter
from arena.store.runs import code_named, code_options, latest_run, refuse_code, resume_command
from arena.tracking import Tracked, check_store, track
from arena.tracking.database import local_uri
from arena.types import Dataset, RunRecord
from experiments.execution.asking import complete, probe_latency
from experiments.execution.budget import paid_note
from experiments.execution.identity import run_fingerprint
from experiments.execution.judging import judge_past_run
from experiments.execution.manifest import (
    Session,
    check_continues,
    check_version,
    extending,
    is_concluded,
    new_manifest,
    with_warnings,
    working,
)
from experiments.execution.prepare import Prepared, prepare
from experiments.execution.process import now
from experiments.execution.scoring import conclude_run, open_past_run
from experiments.terminal.progress import Reporter
from experiments.terminal.tables import Console


def finish(
    store: RunStore, reporter: Reporter, *, dataset: Dataset | None = None, config: RunConfig | None = None
) -> Leaderboard:
    """Seal and conclude a run all of whose questions have a record; only then it is `finished`.

    A finished one is derived anew, and its manifest stays as it is.
    Arguments and errors are those of `experiments.execution.scoring.conclude_run`.
    """
    with store.holding():
        store.seal(store.plan().keys())
        board = conclude_run(store, reporter, dataset=dataset, config=config)
        warnings = [one.message for one in board.all_warnings if one.code == "dropped_parameters"]
        for warning in warnings:
            reporter.warn(warning)
        manifest = store.manifest()
        if manifest["status"] != FINISHED:
            ended = manifest | {"status": FINISHED, "finished": now()} | paid_note(store)
            store.write_manifest(with_warnings(ended, warnings))
    return board


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished run. `traces`: questions per cell that MLflow gets as traces."""

    store: RunStore
    board: Leaderboard
    max_failure_share: float
    mlflow: bool
    traces: int = 20

    @property
    def too_many_failures(self) -> bool:
        """Whether failed questions, over all questions of all cells, exceed the allowed share."""
        return too_many_failed(self.board.cells, self.max_failure_share)


def too_many_failed(cells: Sequence[CellSummary], max_failure_share: float) -> bool:
    """Whether of all questions of all cells together more failed than the allowed share."""
    return sum(cell.n_failed for cell in cells) > max_failure_share * sum(cell.n_questions for cell in cells)


def start(prepared: Prepared, reporter: Reporter) -> Outcome:
    """Run from the beginning. The folder is made once the model answers, so that a bad address leaves none."""
    config = prepared.config
    session = Session()
    name = f"{session.started[:19].replace(':', '')}-{run_fingerprint(prepared.identity, prepared.plan)[-6:]}"
    store = RunStore(config.runs_dir / (config.run_id or _free_name(config.runs_dir, name, prepared.plan.shard)))
    with working(store, reporter, session), closing(prepared):
        complete(prepared, store, lambda: _creating(prepared, store, session), reporter)
        return _finish(prepared, store, reporter)


def _free_name(runs_dir: Path, name: str, shard: Shard | None) -> str:
    """A run id that no folder has: runs that start in one second under the same settings are numbered."""
    end = f"-{shard.index}of{shard.of}" if shard else ""
    return next(
        run_id
        for run_id in (f"{name}{again}{end}" for again in chain([""], (f"-{n}" for n in count(2))))
        if not os.path.lexists(runs_dir / run_id)
    )


def resume(prepared: Prepared, store: RunStore, reporter: Reporter, *, retry_failed: bool = False) -> Outcome:
    """Continue a run where it stopped, under its own settings; it may be given more cells and questions.

    A finished one that is given nothing is only derived anew. `retry_failed`: ask again what failed.

    Raises:
        RunStoreError: something that can change a result is not what it was, or was left out; the message says what.
    """
    session = Session()
    with working(store, reporter, session), closing(prepared):
        check_continues(prepared, store)
        planned = set(plan_keys(prepared.contestants))
        again = frozenset(store.failed() & planned) if retry_failed else frozenset()
        if not planned <= store.done() - again:
            complete(replace(prepared, again=again), store, lambda: extending(prepared, store, session), reporter)
        else:
            reporter.say("nothing is left to ask")
            if not is_concluded(prepared, store):
                with extending(prepared, store, session):
                    pass
        return _finish(prepared, store, reporter)


def track_outcome(outcome: Outcome, reporter: Reporter) -> str | None:
    """Copy a run to MLflow; see `copy_to_mlflow`."""
    return copy_to_mlflow(lambda: track(outcome.store, tracking_uri(), traces=outcome.traces), "run", reporter)


def copy_to_mlflow(copy: Callable[[], Tracked], what: str, reporter: Reporter) -> str | None:
    """Make a copy in MLflow of the folder of a `what`; the MLflow run's id.

    None: MLflow could not be written. That is said and loses nothing.
    """
    reporter.say("logging to MLflow ...")
    try:
        tracked = copy()
    except TrackingError as error:
        reporter.warn(f"MLflow was not written ({error}); the {what} folder has everything")
        return None
    for note in tracked.notes:
        reporter.warn(note)
    return tracked.run_id


@contextmanager
def _creating(prepared: Prepared, store: RunStore, session: Session) -> Iterator[JournalWriter[RunRecord]]:
    manifest = session.opening(new_manifest(prepared, session.started))
    with store.creating(manifest, prepared.plan) as writer:
        session.opened = True
        yield writer


def _finish(prepared: Prepared, store: RunStore, reporter: Reporter) -> Outcome:
    """Judge and probe what was asked, and derive everything from the journals."""
    config = prepared.config
    if config.judge is not None:
        run = open_past_run(store, prepared.entries.dataset, config)
        judge_past_run(run, reporter, again=resume_command(store))
    if config.latency_probe:
        probe_latency(prepared, store, reporter)
    board = finish(store, reporter, dataset=prepared.entries.dataset, config=config)
    return Outcome(store, board, config.max_failure_share, config.mlflow, config.traces)


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
    `--limit` holds for every cell. A dataset with neither a file nor a model gets a first look; systems of the user's
    own that compete alone have no need of either.
    """
    only_systems = bool(options.get("systems")) and options.get("strategies") in ([], ())
    own_data, own_model = "dataset" in options, "model" in options.get("llm", {}) or only_systems
    if config is not None or (own_data and own_model):
        return load_config(config, options)
    quickstart = load_config(Path(str(files("experiments") / "configs" / QUICKSTART)), {}).model_dump(
        exclude_unset=True
    )
    if own_data:
        quickstart = _first_look(quickstart, options)
    elif own_model:
        del quickstart["llm"]["max_tokens"]
        del quickstart["sample"]["model_limit"]
    elif "limit" in options.get("sample", {}):
        del quickstart["sample"]["model_limit"]
    return validate_config(merge(quickstart, options), _TYPED)


def _first_look(quickstart: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """What of the quickstart a first look at own data takes over, so that the bundled model is done within minutes.

    The last of its retrieval modes, its short replies and its sample; all questions where `--limit` says how many.
    """
    sample = {} if "limit" in options.get("sample", {}) else {"sample": quickstart["sample"]}
    return {"modes": quickstart["modes"][-1:], "llm": {"max_tokens": quickstart["llm"]["max_tokens"]}, **sample}


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
    unasked = {name: value for name, value in code_named(old).items() if not _is_named(name, options)}
    refuse_code(store, unasked, " ".join(code_options(unasked)))
    settings = validate_config(merge(merge(old, options), where_it_is), f"run {store.run_id!r}")
    _check_copy(settings)
    reporter.say(f"continuing {store.run_id}")
    return resume(prepare(settings, reporter, shard=shard), store, reporter, retry_failed=retry_failed)


def _check_copy(settings: RunConfig) -> None:
    """What would keep the run from MLflow for good is said before it, and not after hours."""
    if settings.mlflow:
        check_store(settings.runs_dir, tracking_uri())


def _is_named(name: str, options: Mapping[str, Any]) -> bool:
    """Whether the user typed this setting, or another one in the place of all that it is part of."""
    found: Any = options
    for part in name.split("."):
        if not isinstance(found, Mapping):
            return found is not None
        found = found.get(part)
    return found is not None


def _named(shard: Shard | None) -> str:
    return f"shard {shard}" if shard else "a whole run"


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
            own = "" if config["dataset"] == "world" else f"--dataset {shlex.quote(config['dataset'])} "
            lines.append(f"your model   arena run {own}--llm openai:NAME --base-url http://127.0.0.1:8000/v1")
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
