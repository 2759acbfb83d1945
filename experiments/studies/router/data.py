"""The questions that a router is trained or measured on, each with its label, from a finished run of the three ways.

Training and test questions must not share ids, wording, single-hop sub-questions or supporting paragraphs. The training
questions are split so that families stay together.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from arena.datasets.musique import official_id
from arena.errors import ConfigError
from arena.metrics.answer import any_script_normalised
from arena.metrics.controllers import route_taken
from arena.sampling import part_of, require_dev
from arena.store import RunStore, key_of
from arena.store.runs import require_finished
from arena.types import Cell, Gold, Question, RunRecord
from experiments.execution.scoring import PastRun, open_past_run
from experiments.studies.strategies.labels import SilverLabels, Source, answered_right, fixed_ways, label_outcomes
from strategies.adaptive import LABELS, Label


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of one question on one way: whether its answer was right, and how many retrievals it took."""

    right: bool
    steps: int


@dataclass(frozen=True)
class WaysRun:
    """The run, the model that reads in it, and by question id what came of each way.

    `taken` lacks the ways on which a question failed. `prompted`: the label that prompted routing gave, where the run
    has such a cell in the same mode. `mode`: the retrieval mode of ways B and C.
    """

    past: PastRun
    reader: str
    mode: str
    taken: Mapping[str, Mapping[Label, Taken]]
    prompted: Mapping[str, Label]

    @cached_property
    def labels(self) -> SilverLabels:
        outcomes: dict[str, dict[Label, bool | None]] = {
            question_id: {label: one.right for label, one in ways.items()} for question_id, ways in self.taken.items()
        }
        return label_outcomes(outcomes, self.past.dataset)

    @cached_property
    def questions(self) -> Mapping[str, Question]:
        return {question.question_id: question for question in self.past.dataset.questions}

    @property
    def run_id(self) -> str:
        return self.past.store.run_id


def open_ways_run(folder: Path, mode: str | None, data_at: str | None = None) -> WaysRun:
    """Read a run, whose dataset lies at `data_at` (None: where its settings say).

    `mode`: the retrieval mode whose cells count, where it has several.

    Raises:
        RunStoreError: it is none, not finished, or cannot be read.
        ConfigError: it has not one cell for every way, all of one reader.
    """
    store = RunStore.open(folder, data_at)
    require_finished(store, "train a router on it")
    past = open_past_run(store)
    planned = [one.cell for one in past.plan.cells]
    try:
        ways = fixed_ways(planned, mode)
    except ConfigError as error:
        raise ConfigError(f"run {store.run_id!r}: {error}") from None
    reader = _reader(store.run_id, ways.values())
    mode = ways["C"].retrieval_mode
    kept = set(past.plan.keys())
    records = [record for record in store.records() if key_of(record) in kept]
    return WaysRun(past, reader, mode, _taken(records, ways, past), _prompted(records, planned, reader, mode))


def _reader(run_id: str, ways: Iterable[Cell]) -> str:
    readers = sorted({str(cell.llm) for cell in ways})
    if len(readers) > 1 or readers == ["None"]:
        raise ConfigError(
            f"the ways of run {run_id!r} were answered by {', '.join(readers)}: a router is for one reader; run all "
            "three with one model"
        )
    return readers[0]


def _taken(
    records: Iterable[RunRecord], ways: Mapping[Label, Cell], past: PastRun
) -> Mapping[str, Mapping[Label, Taken]]:
    label_of = {cell.key: label for label, cell in ways.items()}
    found: dict[str, dict[Label, Taken]] = {}
    for record in records:
        label = label_of.get(record.cell.key)
        if label is None:
            continue
        of_question = found.setdefault(record.question_id, {})
        right = answered_right(record, past.dataset.gold[record.question_id])
        if right is not None:
            of_question[label] = Taken(right, len(record.retrievals))
    return found


def _prompted(records: Iterable[RunRecord], cells: Iterable[Cell], reader: str, mode: str) -> Mapping[str, Label]:
    routing = (
        cell.key
        for cell in cells
        if (cell.strategy, cell.llm, cell.retrieval_mode) == ("adaptive", reader, mode)
        and cell.params.get("policy") == "classifier"
    )
    first = next(routing, None)
    taken = {record.question_id: route_taken(record) for record in records if record.cell.key == first}
    return {question_id: label for question_id, route in taken.items() for label in LABELS if label == route}


Reason = Literal["a test question itself", "same wording", "shared sub-question", "shared paragraph"]
Link = tuple[Reason, str]

_COMPOSED = re.compile(r"^[2-4]hop\d?__(?P<parts>\d+(?:_\d+)+)")
"""MuSiQue's ids, which name the single-hop questions that a question was composed of."""


@dataclass(frozen=True, slots=True)
class KeptApart:
    """Candidates for training: those that may be trained on, and by id why the others may not, all reasons given."""

    kept: tuple[Question, ...]
    out: Mapping[str, tuple[Reason, ...]]

    @property
    def counts(self) -> Mapping[Reason, int]:
        """How many were kept out for a reason; one with two reasons counts twice."""
        return Counter(reason for reasons in self.out.values() for reason in reasons)


def links(question: Question, gold: Gold) -> Iterator[Link]:
    """All by which a question hangs together with others: two that have one in common are not independent."""
    question_id = official_id(question.question_id)
    yield "a test question itself", question_id
    yield "same wording", any_script_normalised(question.text)
    composed = _COMPOSED.match(question_id)
    for part in composed["parts"].split("_") if composed else ():
        yield "shared sub-question", part
    for doc_id in dict.fromkeys((*gold.supporting_ids, *(gold.hop_order or ()))):
        yield "shared paragraph", doc_id


def keep_apart(candidates: Sequence[Question], test: Iterable[Question], gold: Mapping[str, Gold]) -> KeptApart:
    """Part `candidates` by whether they share anything with a `test` question."""
    tested = {link for question in test for link in links(question, gold[question.question_id])}
    kept: list[Question] = []
    out: dict[str, tuple[Reason, ...]] = {}
    for question in candidates:
        shared = dict.fromkeys(one[0] for one in links(question, gold[question.question_id]) if one in tested)
        if shared:
            out[question.question_id] = tuple(shared)
        else:
            kept.append(question)
    return KeptApart(tuple(kept), out)


def families(questions: Sequence[Question], gold: Mapping[str, Gold]) -> list[int]:
    """For each question the number of its family; questions that share anything, at any remove, are of one family.

    Families are numbered from 0 in the order of their first question.
    """
    root = list(range(len(questions)))

    def top(place: int) -> int:
        while root[place] != place:
            root[place] = root[root[place]]
            place = root[place]
        return place

    first: dict[Link, int] = {}
    for place, question in enumerate(questions):
        for link in links(question, gold[question.question_id]):
            one, two = sorted((top(place), top(first.setdefault(link, place))))
            root[two] = one  # the earlier question stays the root
    numbers: dict[int, int] = {}
    return [numbers.setdefault(top(place), len(numbers)) for place in range(len(questions))]


LabelSources = Literal["both", "silver"]


@dataclass(frozen=True, slots=True)
class Example:
    """A question, its label, and its weight in training (mean 1).

    `family`: questions with one number share something (`leakage.families`).
    """

    question_id: str
    text: str
    label: Label
    source: Source
    family: int
    weight: float


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """Examples that share nothing with any question of the part eval, in the order of the dataset.

    `counts`: of each source and label; `labelled`: how many of each label there were before questions were kept out.
    """

    examples: tuple[Example, ...]
    counts: Mapping[tuple[Source, Label], int]
    labelled: Mapping[Label, int]
    leakage: KeptApart


def training_set(run: WaysRun, sources: LabelSources) -> TrainingSet:
    """Label the run's questions, and keep out whatever the part eval could know them by.

    Questions that are kept out are more often long than short, for they rest on more paragraphs; so that the labels
    have the shares they have on the whole part dev, those that stay are weighted by their label.

    Raises:
        ConfigError: the run asks questions of the part eval; or too little is left to learn from.
    """
    try:
        require_dev(run.past.config)
    except ConfigError as error:
        raise ConfigError(f"run {run.run_id!r} is not for training: {error}") from None
    dataset = run.past.dataset
    labels = usable_labels(run, sources)
    candidates = [question for question in dataset.questions if question.question_id in labels]
    test = [question for question in dataset.questions if part_of(question.question_id) == "eval"]
    leakage = keep_apart(candidates, test, dataset.gold)
    kept = [(question, *labels[question.question_id]) for question in leakage.kept]
    _check_enough(run.run_id, [label for _, label, _ in kept], len(leakage.out))
    labelled = Counter(label for label, _ in labels.values())
    weights = _weights(labelled, Counter(label for _, label, _ in kept))
    numbers = families(leakage.kept, dataset.gold)
    examples = tuple(
        Example(question.question_id, question.text, label, source, family, weights[label])
        for (question, label, source), family in zip(kept, numbers, strict=True)
    )
    return TrainingSet(examples, Counter((one.source, one.label) for one in examples), labelled, leakage)


def usable_labels(run: WaysRun, sources: LabelSources) -> Mapping[str, tuple[Label, Source]]:
    """Question id -> its label and where that comes from; priors are left out where only `silver` counts."""
    return {key: one for key, one in run.labels.by_id.items() if sources == "both" or one[1] == "silver"}


def _weights(labelled: Mapping[Label, int], kept: Mapping[Label, int]) -> Mapping[Label, float]:
    """Share among all labelled questions over share among the kept ones; of labels that were kept at all."""
    n_labelled = sum(labelled[label] for label in kept)
    n_kept = sum(kept.values())
    return {label: (labelled[label] / n_labelled) / (count / n_kept) for label, count in kept.items()}


def _check_enough(run_id: str, labels: Sequence[Label], kept_out: int) -> None:
    found = [label for label in LABELS if label in labels]
    if len(found) > 1:
        return
    left = f"all {len(labels)} training questions are labelled {found[0]}" if found else "no training question is left"
    raise ConfigError(
        f"run {run_id!r}: {left} ({kept_out} were kept out, because they share something with the part eval), so there "
        "is nothing to choose between: train on a run with more questions, or where the ways differ"
    )


FOLDS = 5


def family_folds(families: Sequence[int], folds: int, seed: int) -> list[list[int]]:
    """Places of `families` in at most `folds` parts of about equal size, none empty, no family in two of them.

    Largest families first, each to the smallest part so far; families of one size in an order drawn from `seed`.
    """
    members: dict[int, list[int]] = {}
    for place, family in enumerate(families):
        members.setdefault(family, []).append(place)
    drawn = list(members.values())
    random.Random(seed).shuffle(drawn)
    parts: list[list[int]] = [[] for _ in range(min(folds, len(drawn)))]
    for family_places in sorted(drawn, key=len, reverse=True):
        min(parts, key=len).extend(family_places)
    return [sorted(part) for part in parts]
