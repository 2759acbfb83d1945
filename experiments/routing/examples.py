"""The questions that a router is trained on, each with its label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from arena.errors import ConfigError
from arena.sampling import part_of, require_dev
from experiments.contestants.labels import Source
from experiments.routing.leakage import KeptApart, families, keep_apart
from experiments.routing.ways_run import WaysRun
from strategies.adaptive import LABELS, Label

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
