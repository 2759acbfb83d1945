"""Silver labels: how complex each question proved to be, from a finished run of the three strategies.

Adaptive-RAG (arXiv 2403.14403), section 3.2: the label is the simplest strategy that answers right (A no retrieval,
B one retrieval, C step by step); where none does, the prior of the question's kind. Right is an exact match with the
answer or an alias of it; the paper's code knows no aliases.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from arena.datasets import is_known_as
from arena.errors import ConfigError, RunStoreError
from arena.metrics.answer import exact_match
from arena.store import RunStore
from arena.types import NO_RETRIEVAL_MODE, Cell, Dataset, Gold, Kind, RunRecord
from strategies.adaptive import LABELS, Label

Source = Literal["silver", "prior"]

PRIORS: Mapping[Kind, Label] = {"single_hop": "B", "multi_hop": "C"}
"""Label of a question that no strategy answers; other kinds have no counterpart in the paper and get none."""

_ALONE: Mapping[str, Label] = {"closed_book": "A", "vanilla": "B", "ircot": "C"}
_POLICIES: Mapping[str, Label] = {"always_a": "A", "always_b": "B", "always_c": "C"}


@dataclass(slots=True)
class SilverLabels:
    """Question text -> label, and how many questions have none.

    `by_id`: the same by question id, in the order of the dataset, each label with where it comes from.
    """

    labels: dict[str, Label] = field(default_factory=dict)
    by_id: dict[str, tuple[Label, Source]] = field(default_factory=dict)
    left_out: int = 0


def complexity(outcomes: Mapping[Label, bool | None], kind: Kind) -> tuple[Label, Source] | None:
    """The label of one question, and where it comes from; None = it has none.

    `outcomes`: label -> whether that strategy answered right (None: not known, because a call failed or it was not
    asked). A simpler strategy that is not known leaves the question without a label.
    """
    for label in LABELS:
        right = outcomes.get(label)
        if right is None:
            return None
        if right:
            return label, "silver"
    prior = PRIORS.get(kind)
    return (prior, "prior") if prior else None


def silver_labels(records: Iterable[RunRecord], dataset: Dataset, mode: str | None = None) -> SilverLabels:
    """Label the questions of a run. `mode`: the retrieval mode whose cells count, where the run has several.

    Raises:
        ConfigError: the run has no cell, or more than one, for one of the three strategies.
        RunStoreError: a question is not of `dataset`.
    """
    kept = list(records)
    chosen = {cell.key: label for label, cell in fixed_ways((record.cell for record in kept), mode).items()}
    outcomes: dict[str, dict[Label, bool | None]] = {}
    for record in kept:
        if label := chosen.get(record.cell.key):
            gold = dataset.gold.get(record.question_id)
            if gold is None:
                raise RunStoreError(
                    f"question {record.question_id!r} of the run is not in dataset {dataset.name!r}: "
                    "name the dataset that the run was made on"
                )
            outcomes.setdefault(record.question_id, {})[label] = answered_right(record, gold)
    return label_outcomes(outcomes, dataset)


def label_outcomes(outcomes: Mapping[str, Mapping[Label, bool | None]], dataset: Dataset) -> SilverLabels:
    """Label the questions of `outcomes`: by question id, what came of each way, as `complexity` takes it."""
    found = SilverLabels()
    for question in dataset.questions:
        if question.question_id not in outcomes:
            continue
        labelled = complexity(outcomes[question.question_id], question.kind)
        if labelled is None or question.kind not in PRIORS:
            found.left_out += 1
            continue
        found.labels[question.text] = labelled[0]
        found.by_id[question.question_id] = labelled
    return found


def write_labels(store: RunStore, dataset: Dataset, out: Path, mode: str | None = None) -> SilverLabels:
    """Write the labels of a finished run as `adaptive:policy=oracle:oracle_labels=OUT` reads them.

    Raises:
        ConfigError: as `silver_labels` does, or the file cannot be written.
        RunStoreError: `dataset` is not the one the run was made on, or the run cannot be read.
    """
    if not is_known_as(dataset, store.manifest()["identity"].get("dataset")):
        raise RunStoreError(
            f"dataset {dataset.name!r} is not the one that run {store.run_id!r} was made on: restore its files"
        )
    found = silver_labels(store.records(), dataset, mode)
    try:
        out.write_text(json.dumps(found.labels, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write labels to {str(out)!r} ({error.strerror}): choose another --out") from error
    return found


def fixed_ways(cells: Iterable[Cell], mode: str | None = None) -> Mapping[Label, Cell]:
    """The cell that answers every question the way of a label. Cells of `adaptive` go before strategies of their own.

    `mode`: the retrieval mode whose cells count (None: all); cells that read nothing always do.

    Raises:
        ConfigError: there is no such cell for a label, or more than one.
    """
    policies: dict[Label, dict[str, Cell]] = {label: {} for label in LABELS}
    alone: dict[Label, dict[str, Cell]] = {label: {} for label in LABELS}
    for cell in cells:
        if mode not in (None, cell.retrieval_mode) and cell.retrieval_mode != NO_RETRIEVAL_MODE:
            continue
        if cell.strategy == "adaptive" and (label := _POLICIES.get(str(cell.params.get("policy")))):
            policies[label][cell.key] = cell
        elif label := _ALONE.get(cell.strategy):
            alone[label][cell.key] = cell
    return {label: _only(label, policies[label] or alone[label], mode) for label in LABELS}


def _only(label: Label, cells: Mapping[str, Cell], mode: str | None) -> Cell:
    if not cells:
        where = f" in mode {mode!r}" if mode else ""
        raise ConfigError(
            f"the run has no cell for label {label}{where}: run adaptive:policy=always_a, always_b and always_c, "
            "or closed_book, vanilla and ircot"
        )
    if len(cells) > 1:
        raise ConfigError(
            f"the run has {len(cells)} cells for label {label} ({', '.join(sorted(cells))}): name one retrieval mode, "
            "or run each strategy under one setting"
        )
    return next(iter(cells.values()))


def answered_right(record: RunRecord, gold: Gold) -> bool | None:
    """Whether the answer is exactly one of the gold ones; None where there is no answer to judge."""
    if record.answer is None:
        return None
    return not record.answer.abstained and bool(
        exact_match(record.answer.text or "", gold.answers, official=gold.official)
    )
