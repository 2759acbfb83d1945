"""A router on questions that it has not seen: every question with the shares it gave, and what each way came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from arena.errors import ConfigError, RunStoreError
from arena.sampling import part_of
from experiments.routing.examples import Example, LabelSources, usable_labels
from experiments.routing.folds import FOLDS, family_folds
from experiments.routing.trainer import Shares, Trained, Trainer
from experiments.routing.ways_run import Taken, WaysRun
from strategies.adaptive import LABELS, Label


@dataclass(frozen=True, slots=True)
class Routed:
    """One question: the label that would have been right, the router's shares, and what came of each way.

    `prompted`: the label that prompted routing gave it (None: it was not asked, or gave none).
    """

    question_id: str
    truth: Label
    shares: Mapping[str, float]
    ways: Mapping[Label, Taken]
    prompted: Label | None


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Questions on which a router was measured; `how` says why it cannot know them."""

    how: str
    routed: tuple[Routed, ...]


def on_another_run(trained: Trained, run: WaysRun, trained_on: WaysRun, sources: LabelSources) -> HeldOut:
    """The labelled questions of `run` that belong to the part eval.

    Raises:
        RunStoreError: the runs are of different data.
        ConfigError: they are of different readers, or `run` has no labelled question of the part eval.
    """
    if run.past.dataset.fingerprint != trained_on.past.dataset.fingerprint:
        raise RunStoreError(
            f"run {run.run_id!r} is on {run.past.dataset.name!r} and {trained_on.run_id!r} on "
            f"{trained_on.past.dataset.name!r}: nothing keeps their questions apart; measure on a run of the same data"
        )
    if run.reader != trained_on.reader:
        raise ConfigError(
            f"run {run.run_id!r} was read by {run.reader!r} and {trained_on.run_id!r} by {trained_on.reader!r}: a "
            "router is for one reader; measure it on a run of that one"
        )
    ids = [one for one in usable_labels(run, sources) if part_of(one) == "eval"]
    if not ids:
        raise ConfigError(
            f"run {run.run_id!r} has no labelled question of the part eval: measure on a run with sample.part eval"
        )
    shares = trained.probabilities([run.questions[one].text for one in ids])
    return HeldOut(f"the part eval, from run {run.run_id}", _routed(run, ids, shares, sources))


def cross_validated(trainer: Trainer, examples: Sequence[Example], run: WaysRun, sources: LabelSources) -> HeldOut:
    """The training questions, each routed by a router that was trained without its family.

    Raises:
        ConfigError: all of them are one family.
    """
    parts = family_folds([one.family for one in examples], FOLDS, run.past.config.seed)
    if len(parts) < 2:
        raise ConfigError(
            f"all {len(examples)} training questions of run {run.run_id!r} hang together by what they share, so none "
            "can be set aside: measure on a run of the part eval, --eval RUN"
        )
    shares = np.empty((len(examples), len(LABELS)))
    for part in parts:
        others = [one for place, one in enumerate(examples) if place not in set(part)]
        shares[part] = trainer.fit(others).probabilities([examples[place].text for place in part])
    how = f"the training questions, in {len(parts)} parts, each routed by what the others taught"
    return HeldOut(how, _routed(run, [one.question_id for one in examples], shares, sources))


def _routed(run: WaysRun, ids: Sequence[str], shares: Shares, sources: LabelSources) -> tuple[Routed, ...]:
    """The questions whose every way is known."""
    labels = usable_labels(run, sources)
    return tuple(
        Routed(
            question_id,
            labels[question_id][0],
            dict(zip(LABELS, map(float, row), strict=True)),
            run.taken[question_id],
            run.prompted.get(question_id),
        )
        for question_id, row in zip(ids, shares, strict=True)
        if len(run.taken[question_id]) == len(LABELS)
    )
