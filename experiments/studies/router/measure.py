"""Measure a router on questions that it has not seen.

It is held against the labels, and in answers and steps against every other way of routing. The result of `arena
train-router` is the router, its data and its measure.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from arena.errors import ConfigError, RunStoreError
from arena.sampling import part_of
from arena.statistics.intervals import Interval, Values, difference_interval, draw_resamples, wilson_interval
from experiments.studies.router.data import (
    FOLDS,
    Example,
    LabelSources,
    Taken,
    TrainingSet,
    WaysRun,
    family_folds,
    usable_labels,
)
from experiments.studies.router.training import Shares, Trained, Trainer
from indexing.routing.opening import CALLED, RouterFile, RouterKind
from strategies.adaptive import LABELS, Label
from strategies.adaptive.graph import preferred


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


BIASES = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0)

ROUTER, PROMPTED, ORACLE = "router", "prompted", "oracle"


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """What a policy would have come to. Every figure is None for no questions.

    `bias`: of the router's. `agreement`: share of questions sent the way of their label. `shares`: of each label.
    `right`: share answered right. `steps`: retrievals a question. `against_c`: answered right less those that always_c
    does, in pairs; `steps_against_c`: the same of steps, as a share of always_c's (-0.3: 30 % fewer).
    """

    policy: str
    bias: float | None
    n: int
    agreement: Interval | None
    shares: Mapping[Label, float]
    right: Interval | None
    steps: float | None
    against_c: Interval | None
    steps_against_c: float | None


@dataclass(frozen=True, slots=True)
class RouterEvaluation:
    """A router measured. `confusion`: label -> label given -> questions, at the router's own bias.

    `policies` has the router's row first; `biases` its rows over BIASES.
    """

    how: str
    n: int
    confusion: Mapping[Label, Mapping[Label, int]]
    policies: tuple[PolicyRow, ...]
    biases: tuple[PolicyRow, ...]

    @property
    def accuracy(self) -> Interval | None:
        """Share of questions that the router labels right, with Wilson's interval."""
        return self.policies[0].agreement

    @property
    def row_normalised(self) -> Mapping[Label, Mapping[Label, float | None]]:
        """`confusion` as shares of each true label; None for one that no question has."""
        return {
            truth: {given: count / sum(row.values()) if any(row.values()) else None for given, count in row.items()}
            for truth, row in self.confusion.items()
        }


def evaluate(held_out: HeldOut, cost_bias: float, seed: int) -> RouterEvaluation:
    """Measure a router on held-out questions. `seed`: of the resamples behind paired differences."""
    routed = held_out.routed
    own = by_router(routed, cost_bias)
    given: list[tuple[str, float | None, Mapping[str, Label]]] = [(ROUTER, cost_bias, own)]
    prompted = {one.question_id: one.prompted for one in routed if one.prompted is not None}
    if prompted:
        given.append((PROMPTED, None, prompted))
    given.append((ORACLE, None, {one.question_id: one.truth for one in routed}))
    given += [(f"always_{label.lower()}", None, dict.fromkeys(own, label)) for label in LABELS]
    return RouterEvaluation(
        how=held_out.how,
        n=len(routed),
        confusion=_confusion(routed, own),
        policies=tuple(_row(name, bias, routed, labels, seed) for name, bias, labels in given),
        biases=tuple(_row(ROUTER, bias, routed, by_router(routed, bias), seed) for bias in BIASES),
    )


def by_router(routed: Iterable[Routed], cost_bias: float) -> dict[str, Label]:
    """Question id -> the label that the strategy would give it."""
    return {one.question_id: preferred(one.shares, cost_bias) for one in routed}


def _row(
    policy: str, bias: float | None, routed: Sequence[Routed], labels: Mapping[str, Label], seed: int
) -> PolicyRow:
    asked = [one for one in routed if one.question_id in labels]
    sent = [labels[one.question_id] for one in asked]
    came_to = [one.ways[label] for one, label in zip(asked, sent, strict=True)]
    right, steps = (np.array([getattr(one, name) for one in came_to], dtype=np.float64) for name in ("right", "steps"))
    by_c = np.array([one.ways["C"].right for one in asked], dtype=np.float64)
    steps_by_c = float(sum(one.ways["C"].steps for one in asked))
    agreement = np.array([label == one.truth for one, label in zip(asked, sent, strict=True)], dtype=np.float64)
    counts = Counter(sent)
    return PolicyRow(
        policy=policy,
        bias=bias,
        n=len(asked),
        agreement=wilson_interval(agreement),
        shares={label: counts[label] / len(asked) for label in LABELS} if asked else {},
        right=wilson_interval(right),
        steps=float(steps.mean()) if asked else None,
        against_c=_difference(right - by_c, seed),
        steps_against_c=float(steps.sum()) / steps_by_c - 1.0 if steps_by_c else None,
    )


def _difference(differences: Values, seed: int) -> Interval | None:
    if not differences.size:
        return None
    resamples = draw_resamples([0] * differences.size, np.random.default_rng(seed))
    return difference_interval(differences, resamples.means(differences[:, np.newaxis])[:, 0])


def _confusion(routed: Sequence[Routed], given: Mapping[str, Label]) -> dict[Label, dict[Label, int]]:
    counts = Counter((one.truth, given[one.question_id]) for one in routed)
    return {truth: {label: counts[truth, label] for label in LABELS} for truth in LABELS}


@dataclass(frozen=True, slots=True)
class RouterOutcome:
    """A trained router with all that its folder tells of it. `sources`: which labels it was trained on."""

    run: WaysRun
    kind: RouterKind
    embedder: Mapping[str, str | int] | None
    sources: LabelSources
    data: TrainingSet
    trained: Trained
    evaluation: RouterEvaluation
    seed: int

    @property
    def called(self) -> str:
        return CALLED[self.kind]

    @property
    def training(self) -> dict[str, Any]:
        """What it was trained on, as JSON values."""
        leakage = self.data.leakage
        ids = [one.question_id for one in self.data.examples]
        return {
            "questions": len(ids),
            "ids_sha256": hashlib.sha256("\n".join(ids).encode()).hexdigest(),
            "labels": self.sources,
            "silver": {label: self.data.counts.get(("silver", label), 0) for label in LABELS},
            "prior": {label: self.data.counts.get(("prior", label), 0) for label in LABELS},
            "kept_out": len(leakage.out),
            "kept_out_for": dict(leakage.counts),
            "seed": self.seed,
            **self.trained.facts,
        }

    @property
    def metrics(self) -> dict[str, Any]:
        """How it did on questions that it had not seen, as JSON values."""
        found = self.evaluation
        return {
            "measured_on": found.how,
            "questions": found.n,
            "accuracy": asdict(found.accuracy) if found.accuracy else None,
            "confusion": found.confusion,
            "confusion_shares": found.row_normalised,
            "policies": [asdict(one) for one in found.policies],
            "cost_bias": [asdict(one) for one in found.biases],
        }

    def described(self, weights_sha256: str) -> RouterFile:
        """The content of its router.json."""
        manifest = self.run.past.manifest
        return RouterFile(
            kind=self.kind,
            called=self.called,
            labels=LABELS,
            reader=self.run.reader,
            reader_sha256=manifest["identity"].get("model_sha256"),
            embedder=self.embedder,
            weights_sha256=weights_sha256,
            run={
                "run_id": self.run.run_id,
                "fingerprint": manifest["fingerprint"],
                "started": manifest["started"],
                "dataset": self.run.past.dataset.name,
                "dataset_fingerprint": self.run.past.dataset.fingerprint,
                "mode": self.run.mode,
            },
            training=self.training,
            metrics=self.metrics,
        )

    def fields(self, folder: Path) -> dict[str, Any]:
        """Everything, as JSON values. `folder`: where it was written."""
        return {
            "written": str(folder),
            "kind": self.kind,
            "called": self.called,
            "reader": self.run.reader,
            "training": self.training,
            "kept_out_ids": self.data.leakage.out,
            "metrics": self.metrics,
        }
