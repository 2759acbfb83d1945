"""From scores of two populations to a threshold, and whether the choice may be trusted.

The scores come from a finished run on the dev part. Nothing is rounded here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arena.errors import ConfigError
from arena.sampling import require_dev
from arena.statistics.intervals import Interval, Resamples, Values, draw_resamples, wilson_interval
from arena.statistics.thresholds import Criterion, ScoreSample, auc_interval, choose
from arena.store import RunStore, key_of
from arena.store.runs import require_finished
from arena.types import Cell, Document, Gold, Hit, Kind, Question, RunRecord
from experiments.execution.scoring import PastRun, open_past_run
from indexing.modes import MODES

TARGETS = ("rerank", "corrective", "self_rag", "router")

Figure = Interval | float | None
Rates = tuple[Interval | None, Interval | None, float | None]


@dataclass(frozen=True, slots=True)
class Population:
    """Scores of things that ought to end up on one side of a threshold."""

    name: str
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TradeRow:
    """One value of the setting (None = no threshold at all) and what it would have done. `mark`: why it is shown."""

    value: float | None
    mark: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class TradeTable:
    """What each value of a setting would have done to the questions of the run; `headings` of the figures."""

    headings: tuple[str, ...]
    rows: tuple[TradeRow, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The value of one setting, best by `criterion`; `low` to `high`: chosen anew in resamples of the questions.

    `setting`: its place in a config, parts joined by dots. None = no threshold. `measures`: how well it does, by name.
    """

    setting: str
    value: float | None
    low: float | None
    high: float | None
    criterion: str
    measures: Mapping[str, Interval]

    @property
    def name(self) -> str:
        """The setting's own name."""
        return self.setting.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of the wanted things alone against the unwanted, and what would be best for it."""

    name: str
    n: int
    auc: Interval
    best: Chosen
    separates: bool
    verdict: str


@dataclass(frozen=True, slots=True)
class TargetCalibration:
    """One target. `judge`: whose scores; `cell`: where in the run they were read.

    `populations`: the wanted and the unwanted things. `separates`: the scores tell them apart, and the chosen values
    may be used; `verdict` says so in words. `parts`: kinds of the wanted things, where there are several.
    """

    target: str
    cell: str
    judge: str
    populations: tuple[Population, Population]
    auc: Interval
    chosen: tuple[Chosen, ...]
    table: TradeTable
    separates: bool
    verdict: str
    parts: tuple[Part, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Calibration:
    """What one run can tell.

    `untold`: target -> why the run cannot tell. `written`: the config that holds the chosen values (None: nothing
    separates, and nothing was written).
    """

    run_id: str
    fingerprint: str
    started: str
    findings: tuple[TargetCalibration, ...]
    untold: Mapping[str, str]
    written: Path | None


FEWEST = 10
"""Things of each population that a threshold may be chosen on. Of fewer, one more would move a rate by a tenth."""

LEAST = 2
"""Things of each population without which there is nothing to show."""

Scores = Mapping[str, Sequence[float]]
"""Question id -> the scores that it has of one population."""

WORTH = "J less optimism"
"""The measure that must be above 0: what choosing and measuring on the same questions adds is taken off."""

YOUDEN = "largest J = kept + refused - 1; of equal ones the lowest, which keeps more"


@dataclass(frozen=True, slots=True)
class Separation:
    """Two populations of scores, and the resamples of questions that all their figures share."""

    wanted: Population
    unwanted: Population
    scored: ScoreSample
    resamples: Resamples
    auc: Interval

    def choose(self, setting: str, criterion: Criterion, words: str) -> Chosen:
        """The value of `setting`; `words` say what the criterion is. Minus infinity is no threshold."""
        found = choose(self.scored, criterion, self.resamples)
        value, low, high = (None if np.isneginf(one) else one for one in (found.threshold, found.low, found.high))
        names = (f"{self.wanted.name} kept", f"{self.unwanted.name} refused", WORTH)
        measures = dict(zip(names, (found.kept, found.refused, found.youden), strict=True))
        return Chosen(setting, value, low, high, words, measures)

    def verdict(self, *tests: Chosen) -> tuple[bool, str]:
        """Whether the populations are told apart: enough of each, AUC above 0.5, and the J of every choice above 0."""
        return self.judged({f"J at the best {one.name}": one.measures[WORTH] for one in tests})

    def judged(self, gains: Mapping[str, Interval]) -> tuple[bool, str]:
        """Whether the populations are told apart, and in words why. `gains`: what must be above 0, by name."""
        pair = f"'{self.wanted.name}' and '{self.unwanted.name}'"
        few = min(len(self.wanted.scores), len(self.unwanted.scores))
        if few < FEWEST:
            return False, f"{pair}: {few} of one are too few to choose on; at least {FEWEST} are needed"
        if self.auc.low <= 0.5:
            how = "includes 0.5" if self.auc.high >= 0.5 else "lies below 0.5, the wrong way round"
            return False, f"{pair} do not separate: the interval of AUC {how}"
        for name, gain in gains.items():
            if gain.low <= 0.0:
                return False, f"{pair} do not separate: the interval of {name} includes 0"
        return True, f"{pair} separate"


def separation(wanted: Scores, unwanted: Scores, names: tuple[str, str], seed: int) -> Separation:
    """Raises `ConfigError` where there are fewer than two things of one population; `names` are theirs."""
    sides = [[(row, score) for row, scores in side.items() for score in scores] for side in (wanted, unwanted)]
    for things, name in zip(sides, names, strict=True):
        if len(things) < LEAST:
            raise ConfigError(
                f"the run's questions give {len(things)} scores of '{name}', and at least {LEAST} are needed to show "
                f"anything ({FEWEST} to choose a value): ask more questions"
            )
    rows = sorted({*wanted, *unwanted})
    place = {question_id: row for row, question_id in enumerate(rows)}
    resamples = draw_resamples(
        [(bool(wanted.get(one)), bool(unwanted.get(one))) for one in rows], np.random.default_rng(seed)
    )
    both = [*sides[0], *sides[1]]
    scored = ScoreSample(
        np.array([score for _, score in both], dtype=np.float64),
        np.arange(len(both)) < len(sides[0]),
        np.array([place[question_id] for question_id, _ in both], dtype=np.intp),
    )
    first, second = (
        Population(name, tuple(score for _, score in things)) for name, things in zip(names, sides, strict=True)
    )
    return Separation(first, second, scored, resamples, auc_interval(scored, resamples))


def rates(kept: Sequence[bool] | NDArray[np.bool_], refused: Sequence[bool] | NDArray[np.bool_]) -> Rates:
    """The shares of what was to be kept and is, and of what was to be refused and is, and J; None for none of them."""
    first, second = (wilson_interval(np.asarray(hits, dtype=np.float64)) for hits in (kept, refused))
    return first, second, first.mean + second.mean - 1.0 if first and second else None


def shown_values(scores: Values, best: float | None, own: float | None) -> list[tuple[float | None, str]]:
    """No threshold, deciles of `scores`, the best one and the run's own, ascending; each with a mark or ''.

    A value of the run's own that no score is below does nothing, and is not shown.
    """
    marks: dict[float, str] = {}
    for value in np.quantile(scores, np.linspace(0.1, 0.9, 9)):
        marks[float(value)] = ""
    if own is not None and own > scores.min():
        marks[own] = "this run's"
    if best is not None:
        marks[best] = "best"
    return [(None, "" if best is not None else "best"), *((value, marks[value]) for value in sorted(marks))]


@dataclass(frozen=True)
class DevRun:
    """The run, and its records by cell key, in the order of the plan. Records of failures are left out."""

    past: PastRun
    records: Mapping[str, Sequence[RunRecord]]

    @cached_property
    def questions(self) -> Mapping[str, Question]:
        return {question.question_id: question for question in self.past.dataset.questions}

    @property
    def gold(self) -> Mapping[str, Gold]:
        return self.past.dataset.gold

    @property
    def seed(self) -> int:
        return self.past.config.seed

    @property
    def cells(self) -> list[Cell]:
        """In the order of the plan."""
        return [planned.cell for planned in self.past.plan.cells]

    def of(self, cell: Cell) -> Sequence[RunRecord]:
        return self.records.get(cell.key, ())

    def one_cell(self, strategy: str, suits: Callable[[Cell], bool], wanted: str) -> Cell:
        """The cell of a strategy that suits: in the reranked mode if the run has it, else in its first mode.

        Raises:
            ConfigError: there is none, or more than one in that mode; `wanted` says what to run.
        """
        suiting = [cell for cell in self.cells if cell.strategy == strategy and suits(cell)]
        if not suiting:
            raise ConfigError(f"run {self.past.store.run_id!r} has no cell to calibrate it on: run {wanted}")
        modes = list(dict.fromkeys(cell.retrieval_mode for cell in suiting))
        mode = next((one for one in modes if reranks(one)), modes[0])
        found = [cell for cell in suiting if cell.retrieval_mode == mode]
        if len(found) > 1:
            raise ConfigError(
                f"run {self.past.store.run_id!r} has {len(found)} cells of {strategy} in mode {mode} "
                f"({', '.join(cell.key for cell in found)}): calibrate it on a run with one"
            )
        return found[0]


def open_dev_run(folder: Path, data_at: str | None = None) -> DevRun:
    """Read a run, whose dataset lies at `data_at` (None: where its settings say).

    Raises:
        RunStoreError: it is none, not finished, or cannot be read.
        ConfigError: it asks questions that do not belong to the part dev.
    """
    store = RunStore.open(folder, data_at)
    require_finished(store, "calibrate")
    past = open_past_run(store)
    try:
        require_dev(past.config)
    except ConfigError as error:
        raise ConfigError(f"run {store.run_id!r} is not for calibration: {error}") from None
    planned = set(past.plan.keys())
    records: dict[str, list[RunRecord]] = {}
    for record in store.records():
        if record.answer is not None and key_of(record) in planned:
            records.setdefault(record.cell.key, []).append(record)
    return DevRun(past, records)


def reranks(mode: str) -> bool:
    """Whether a retrieval mode ends with the reranker."""
    return mode in MODES and MODES[mode].reranked


@dataclass(frozen=True, slots=True)
class Reranked:
    """The first k passages of one question's own retrieval as they would be without a threshold, best first.

    `scores`, `doc_ids`, `words`: one of each a passage. Any threshold leaves a head of them, so that a journal tells of
    every threshold, whatever the run's own was.
    """

    question_id: str
    kind: Kind
    gold: Gold
    scores: tuple[float, ...]
    doc_ids: tuple[str, ...]
    words: tuple[int, ...]

    def shown(self, threshold: float | None) -> int:
        """Passages that reach the threshold."""
        return sum(threshold is None or score >= threshold for score in self.scores)

    @property
    def best_gold(self) -> float | None:
        """The score above which no gold evidence is left; None = there is none to lose."""
        gold = set(self.gold.supporting_ids)
        return max((score for score, one in zip(self.scores, self.doc_ids, strict=True) if one in gold), default=None)


def reranked(run: DevRun, cell: Cell) -> list[Reranked]:
    """The retrieval of every record of a cell that asked for the question itself; others say nothing of it."""
    documents = {one.doc_id: one for one in run.past.dataset.documents}
    found = []
    for record in run.of(cell):
        question = run.questions[record.question_id]
        first = next((one for one in record.retrievals if one.request.query == question.text), None)
        passages = (*first.hits, *first.dropped)[: first.request.k] if first else ()
        if passages:
            found.append(
                Reranked(
                    record.question_id,
                    question.kind,
                    run.gold[record.question_id],
                    tuple(hit.score for hit in passages),
                    tuple(hit.doc_id for hit in passages),
                    tuple(_words(hit, documents) for hit in passages),
                )
            )
    return found


def _words(hit: Hit, documents: Mapping[str, Document]) -> int:
    text = documents[hit.doc_id].text
    return len((text if hit.span is None else text[slice(*hit.span)]).split())
