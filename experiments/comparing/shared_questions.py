"""The questions on which runs can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from arena.errors import ConfigError
from arena.plan import PlannedCell
from experiments.comparing.opening import on_questions
from experiments.run.scoring import PastRun

_GROUPS = {False: "cells without a model", True: "cells with a model"}
"""A run may ask cells that call a model fewer questions (`model_limit`): each group has its own common questions."""


@dataclass(frozen=True, slots=True)
class SharedQuestions:
    """The runs on the questions they share, and a sentence for each group of cells that was cut down to them."""

    runs: Mapping[str, PastRun]
    notes: tuple[str, ...]


def share_questions(runs: Mapping[str, PastRun]) -> SharedQuestions:
    """Runs (label -> run) on the questions that all of them asked.

    Raises:
        ConfigError: there are none.
    """
    shared: dict[bool, set[str]] = {}
    notes = []
    for group, name in _GROUPS.items():
        asked = {label: _asked(_in_group(run, group)) for label, run in runs.items() if _in_group(run, group)}
        if not asked:
            continue
        shared[group] = set.intersection(*asked.values())
        if not shared[group]:
            raise ConfigError(
                f"the {name} of {_names(asked)} share no question: ask them again with one sample (same `sample` and "
                "`seed` in the config)"
            )
        if any(ids != shared[group] for ids in asked.values()):
            counts = ", ".join(f"{len(ids)} in {label}" for label, ids in asked.items())
            notes.append(f"The {name} are compared on {len(shared[group])} common questions: asked were {counts}.")
    cut = {
        label: on_questions(run, {one.cell.key: shared[_calls_model(one)] for one in run.plan.cells})
        for label, run in runs.items()
    }
    return SharedQuestions(cut if notes else runs, tuple(notes))


def _in_group(run: PastRun, group: bool) -> list[PlannedCell]:
    return [one for one in run.plan.cells if _calls_model(one) == group]


def _calls_model(planned: PlannedCell) -> bool:
    return planned.cell.llm is not None


def _asked(cells: Iterable[PlannedCell]) -> set[str]:
    return {question_id for planned in cells for question_id in planned.question_ids}


def _names(labels: Iterable[str]) -> str:
    return " and ".join(labels)
