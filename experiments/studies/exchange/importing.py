"""`arena import`: the answers of other systems as a run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.config import RunConfig, fingerprint, validate_config
from arena.datasets import load_dataset
from arena.errors import ConfigError, DatasetError, RunStoreError
from arena.files import file_sha256, making_folder
from arena.leaderboard.build import Leaderboard
from arena.plan import PlannedCell, RunPlan
from arena.store import FINISHED, MANIFEST, RECORDS, RunStore
from arena.store.journal import RECORD_LINES, encode
from arena.store.runs import IMPORTED
from arena.types import IMPORTED_MODE, UNSTATED, Cell, Dataset, Scalar
from experiments.execution.contestants import Entries
from experiments.execution.foreign import AnswerLine, foreign_record, read_answers
from experiments.execution.identity import run_fingerprint, version_of
from experiments.execution.manifest import new_manifest
from experiments.execution.prepare import Prepared
from experiments.execution.process import now
from experiments.execution.start import finish
from experiments.terminal.progress import Reporter
from strategies import strategy_names

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True, slots=True)
class System:
    """A foreign system: the cell that it becomes, and its line for each question."""

    cell: Cell
    lines: Mapping[str, AnswerLine]
    sha256: str

    @property
    def n_beyond_k(self) -> int:
        """Documents of all questions that stand behind the first `k` of their list; 0 where no line says `k`."""
        k = self.cell.params.get("k")
        return sum(len(line.retrieved_ids[k:]) for line in self.lines.values()) if isinstance(k, int) else 0


@dataclass(frozen=True, slots=True)
class Imported:
    """A run made of files."""

    store: RunStore
    board: Leaderboard


def import_runs(
    files: Sequence[Path], options: Mapping[str, Any], names: Sequence[str], llm: str | None, reporter: Reporter
) -> Imported:
    """Make a finished run of files of answers, one cell a file.

    The run folder appears with all records in it. An import that was stopped before it was scored goes on when the same
    files are imported into the same folder.

    The run's questions are those that any file answers; one that a file passes over is a failure of its system.

    Args:
        files: JSON lines, see `AnswerLine`.
        options: `dataset`, and where the run goes.
        names: of the systems, in the order of `files` (empty: the files' own names).
        llm: the model that wrote the answers, as PROVIDER:NAME where it is to be priced (None: not stated).
        reporter: who hears of questions that no file answers.

    Raises:
        DatasetError: see `read_answers`.
        ConfigError: a name is no name, or taken.
        RunStoreError: the run exists, or cannot be written.
    """
    settings = {**options, "llm": {"model": llm or UNSTATED}, "strategies": _names(files, names)}
    config = validate_config(settings, "arena import")
    dataset = load_dataset(config.dataset)
    systems = [_system(path, name, llm, dataset) for path, name in zip(files, config.strategies, strict=True)]
    prepared = _prepared(config, dataset, systems)
    asked = {one for planned in prepared.plan.cells for one in planned.question_ids}
    if len(asked) < len(dataset.questions):
        reporter.warn(
            f"{len(asked)} of the {len(dataset.questions)} questions of {dataset.name} are answered; the others are "
            "not in this run"
        )
    for system in systems:
        if left := len(asked - system.lines.keys()):
            reporter.warn(
                f"{system.cell.strategy} has no line for {left} of the {len(asked)} questions: they count as failed"
            )
        if beyond := system.n_beyond_k:
            reporter.warn(
                f"{system.cell.strategy} says k: {system.cell.params['k']}, and its lists hold {beyond} documents "
                "beyond that, which are scored like the others: correct k unless it searches several times"
            )
    store = _write(prepared, systems)
    return Imported(store, finish(store, reporter, dataset=dataset, config=prepared.config))


def _names(files: Sequence[Path], names: Sequence[str]) -> list[str]:
    chosen = list(names) or [path.stem for path in files]
    if len(chosen) != len(files):
        raise ConfigError(f"{len(chosen)} names for {len(files)} files: give each file one --name, in order")
    for name in chosen:
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"{name!r} is no name for a system: use up to 100 letters, digits, - _ and . (set it with --name)"
            )
        if name in strategy_names():
            raise ConfigError(f"{name!r} is a strategy of the arena: name the imported system otherwise, with --name")
        if chosen.count(name) > 1:
            raise ConfigError(f"two systems are called {name!r}: give each file its own --name")
    return chosen


def _system(path: Path, name: str, llm: str | None, dataset: Dataset) -> System:
    lines = read_answers(path, dataset)
    try:
        sha256 = file_sha256(path)
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}") from error
    answers = any(line.answer is not None or line.abstained for line in lines.values())
    params: dict[str, Scalar] = {"records_sha256": sha256[:16]}
    if (k := next((line.k for line in lines.values() if line.k is not None), None)) is not None:
        params["k"] = k
    cell = Cell(name, IMPORTED_MODE, (llm or UNSTATED) if answers else None, params)
    return System(cell, lines, sha256)


def _prepared(config: RunConfig, dataset: Dataset, systems: Sequence[System]) -> Prepared:
    asked = {one for system in systems for one in system.lines}
    ids = tuple(one.question_id for one in dataset.questions if one.question_id in asked)
    plan = RunPlan(tuple(PlannedCell(system.cell, ids) for system in systems))
    identity = {
        "dataset": dataset.fingerprint,
        "config": {},
        "arena": version_of("rag-strategy-arena"),
        **dict.fromkeys(("model", "model_sha256", "index", "reranker", "external")),
        "contestants": {system.cell.strategy: {IMPORTED: system.sha256} for system in systems},
    }
    run_id = config.run_id or f"imported-{fingerprint('import', identity)[-8:]}"
    named = config.model_copy(update={"run_id": run_id})
    return Prepared(named, Entries(dataset, ()), (), None, identity, plan)


def _write(prepared: Prepared, systems: Sequence[System]) -> RunStore:
    """The run folder with its journal. It appears complete or not at all."""
    into = prepared.config.runs_dir / str(prepared.config.run_id)
    if into.exists():
        if _is_left_by_a_kill(into, prepared):
            return RunStore(into)
        raise RunStoreError(f"run {into.name!r} exists in {str(into.parent)!r}: choose another --run-id")
    try:
        with making_folder(into) as part:
            _fill(RunStore(part), prepared, systems)
    except OSError as error:
        raise RunStoreError(
            f"cannot write run folder {str(into)!r}: {error.strerror}; choose another with --runs-dir"
        ) from error
    return RunStore(into)


def _is_left_by_a_kill(into: Path, prepared: Prepared) -> bool:
    """Whether the folder holds what would be written now, and nothing was made of it yet."""
    if not (into / MANIFEST).is_file():
        return False
    manifest = RunStore(into).manifest()
    same = manifest.get("fingerprint") == run_fingerprint(prepared.identity, prepared.plan)
    return same and manifest["status"] != FINISHED


def _fill(store: RunStore, prepared: Prepared, systems: Sequence[System]) -> None:
    manifest = new_manifest(prepared, now())
    by_key = {system.cell.key: system for system in systems}
    questions = {one.question_id: one for one in prepared.entries.dataset.questions}
    documents = {one.doc_id: one for one in prepared.entries.dataset.documents}
    keys = prepared.plan.keys()
    lines = (
        encode(
            foreign_record(by_key[cell].cell, questions[one], by_key[cell].lines.get(one), documents),
            RECORD_LINES,
            manifest["lines"][cell],
        )
        for cell, one in keys
    )
    store.write_plan(prepared.plan)
    store.write_journal(RECORDS, lines)
    store.write_manifest(manifest)
