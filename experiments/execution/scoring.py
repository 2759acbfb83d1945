"""From a run's folder to its scores and its leaderboard. Asks no model and opens no index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from arena.config import RunConfig, validate_config
from arena.datasets import is_known_as, load_corpus, load_dataset
from arena.errors import DatasetError, RunStoreError
from arena.judges.labels import read_labels
from arena.leaderboard.build import Leaderboard, build_leaderboard
from arena.leaderboard.validity import index_facts
from arena.metrics import Case
from arena.plan import Key, RunPlan
from arena.prices import PriceTable
from arena.scoring import ScoreTable, score_records, usage_of
from arena.scoring.table import QUESTION_TYPES, SCORE_TYPES, question_columns, score_columns
from arena.store import FINISHED, LABELS, QUESTIONS, SCORES, RunStore, key_of
from arena.store.runs import resume_command
from arena.types import Dataset, Document, RunRecord, Verdict
from experiments.execution.budget import price_table
from experiments.terminal.progress import Reporter

JUDGES = "judges"
"""Key of the manifest: metric -> the `judge_sha` of the verdicts that are its scores."""

_ELSEWHERE = "add --dataset with the place where they are now, as in --dataset jsonl:NEW_FOLDER"


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run folder, and what its records are scored against."""

    store: RunStore
    manifest: Mapping[str, Any]
    config: RunConfig
    plan: RunPlan
    dataset: Dataset

    @property
    def prices(self) -> PriceTable:
        """Those of the day on which the run was started."""
        return price_table(self.config, self.manifest["started"])

    @property
    def n_missing(self) -> int:
        """Questions that are planned and have no record."""
        return len(set(self.plan.keys()) - self.store.done())

    @property
    def unfinished(self) -> str | None:
        """What is missing and how to go on, without a full stop; None where every planned question has a record."""
        missing = self.n_missing
        return (
            f"run {self.store.run_id!r} is not finished: {missing} of {len(self.plan.keys())} answers are missing; "
            f"go on with {resume_command(self.store)}"
            if missing
            else None
        )


def open_past_run(store: RunStore, dataset: Dataset | None = None, config: RunConfig | None = None) -> PastRun:
    """A run as its folder has it.

    `dataset`: what was asked (None: loaded again, see `data_of`). `config`: its settings (None: those in the manifest).

    Raises:
        RunStoreError: the folder is damaged, or the data are not what they were.
        DatasetError: they cannot be loaded.
    """
    manifest = store.manifest()
    settings = config or validate_config(manifest["config"], f"run {store.run_id!r}")
    asked = dataset or data_of(store, settings.dataset)
    _check(store, asked, manifest["identity"].get("dataset"))
    return PastRun(store, manifest, settings, store.plan(), asked)


def data_of(store: RunStore, spec: str) -> Dataset:
    """The dataset of a run whose settings name it `spec`, under that name, from where it lies now.

    Raises:
        DatasetError: it cannot be loaded; how to name another place is said.
        UnknownNameError: its plugin is not installed.
    """
    try:
        return replace(load_dataset(store.data_at or spec), name=spec)
    except DatasetError as error:
        if store.data_at is not None:
            raise
        raise DatasetError(f"{error}. If the data of run {store.run_id!r} were moved: {_ELSEWHERE}") from error


def conclude_run(
    store: RunStore, reporter: Reporter, *, dataset: Dataset | None = None, config: RunConfig | None = None
) -> Leaderboard:
    """Derive scores.parquet, questions.parquet, calls.jsonl and leaderboard.json from the journals.

    The same folder gives the same bytes. Whoever calls holds the folder. Arguments and errors are those of
    `open_past_run`.
    """
    run = open_past_run(store, dataset, config)
    reporter.say("scoring ...")
    table = score_run(run)
    board = board_of(run, table)
    write_conclusion(store, table, board)
    return board


def write_conclusion(store: RunStore, table: ScoreTable, board: Leaderboard) -> None:
    """Write the derived files."""
    store.write_table(SCORES, score_columns(table), SCORE_TYPES)
    store.write_table(QUESTIONS, question_columns(table), QUESTION_TYPES)
    store.write_calls()
    store.write_leaderboard(board.model_dump_json(indent=2))


def score_run(run: PastRun) -> ScoreTable:
    """Score every planned record, cells in the order of the plan.

    Raises as `open_past_run`, also where a second corpus is not what it was.
    """
    planned = set(run.plan.keys())
    records = (record for record in run.store.records() if key_of(record) in planned)
    table = score_some(run, records, documents_of(run), run.store.verdicts(), _labels(run))
    place = {one.cell.key: number for number, one in enumerate(run.plan.cells)}
    return replace(table, cells=tuple(sorted(table.cells, key=lambda cell: place[cell.cell.key])))


def score_some(
    run: PastRun,
    records: Iterable[RunRecord],
    documents: Mapping[str, Document],
    verdicts: Iterable[Verdict],
    labels: Mapping[Key, bool] | None = None,
) -> ScoreTable:
    """The scores of these records alone, as the run's table has them."""
    judging, judges = run.config.judge, run.manifest.get(JUDGES, {})
    return score_records(
        records,
        run.dataset,
        run.prices,
        documents=documents,
        verdicts=verdicts,
        labels=labels,
        judge_metrics=tuple(dict.fromkeys((*(judging.metrics if judging else ()), *judges))),
        judges=judges,
        judge_base_url=judging.llm.base_url if judging else None,
    )


def board_of(run: PastRun, table: ScoreTable) -> Leaderboard:
    """The leaderboard of a run's scores."""
    return build_leaderboard(
        table,
        run.dataset,
        run_id=run.store.run_id,
        fingerprint=run.manifest["fingerprint"],
        tiers=run.plan.tiers,
        seed=run.config.seed,
        prices=run.prices,
        probe=_serial_seconds(run.store.probe_records()),
        indexes=index_facts(run.manifest),
    )


def documents_of(run: PastRun) -> dict[str, Document]:
    """Every document whose text is known, by id; those of the second index included.

    Raises:
        RunStoreError: the second corpus is not what it was.
        DatasetError: it cannot be loaded.
    """
    documents = {document.doc_id: document for document in run.dataset.documents}
    searched = {planned.cell.params.get("external_corpus") for planned in run.plan.cells} - {None}
    name = run.config.external.dataset
    if searched and name is not None:
        second = load_corpus(name)
        for was in searched:
            _check(run.store, replace(second, name=name), was)
        documents |= {document.doc_id: document for document in second.documents}
    return documents


def cases_of(run: PastRun) -> Iterator[Case]:
    """The planned records with what each is scored against, in the order of the journal."""
    planned, documents = set(run.plan.keys()), documents_of(run)
    questions = {one.question_id: one for one in run.dataset.questions}
    for record in run.store.records():
        if key_of(record) in planned:
            question_id = record.question_id
            yield Case(record, questions[question_id], run.dataset.gold[question_id], documents)


def rescore(store: RunStore, reporter: Reporter) -> Leaderboard:
    """Derive a finished run's scores anew; of one that is not finished, say what there is, and write nothing.

    Raises:
        RunStoreError: as `open_past_run`; another process is writing the run.
    """
    run = open_past_run(store)
    if run.manifest["status"] == FINISHED:
        with store.holding():
            return conclude_run(store, reporter, dataset=run.dataset)
    missing = run.unfinished or f"run {store.run_id!r} was not scored at its end; go on with {resume_command(store)}"
    reporter.warn(f"{missing}. This is what there is, and nothing is written")
    return board_of(run, score_run(run))


def _check(store: RunStore, found: Dataset, was: object) -> None:
    if not is_known_as(found, was):
        raise RunStoreError(
            f"dataset {found.name!r} has fingerprint {found.fingerprint!r}, and run {store.run_id!r} was made on "
            f"{was!r}: restore its files, or, if they were moved, {_ELSEWHERE}; other data would give other scores"
        )


def _labels(run: PastRun) -> dict[Key, bool]:
    """What people said of the answers; nothing where nobody was asked."""
    text = run.store.labels_text()
    writing = [planned.cell.key for planned in run.plan.cells if planned.cell.llm is not None]
    return read_labels(text, writing, str(run.store.folder / LABELS)) if text else {}


def _serial_seconds(probed: Iterable[RunRecord]) -> dict[str, list[float]]:
    """Cell key -> seconds of each question of the latency probe that was measured."""
    seconds: dict[str, list[float]] = {}
    for record in probed:
        usage = usage_of(record)
        of_cell = seconds.setdefault(record.cell.key, [])
        if usage.measured:
            of_cell.append(usage.latency_seconds)
    return seconds
