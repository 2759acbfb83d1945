"""Labels of people on the answers of a run, and which judges may prefer answers of their own model family.

labels.jsonl has lines `{"question_id": "q1", "correct": true, "cell": "KEY"}`. `cell` may be left out where only one
cell answers with a model. `raters` marks a label that was derived from a review.

A judge tends to rate its own answers higher (Panickssery, Bowman & Feng 2024, "LLM Evaluators Recognize and Favor Their
Own Generations").
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationError

from arena.errors import DatasetError, content_problems
from arena.files import read_yaml_file

Place = tuple[str, str]
"""(cell key, question id)."""


class Label(BaseModel):
    """Whether one answer is right. `raters`: how many reviewers it is the majority of (None: handed in as it is)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question_id: str
    correct: StrictBool
    cell: str | None = None
    raters: int | None = Field(default=None, ge=1)


def read_labels(text: str, cells: Sequence[str], where: str) -> dict[Place, bool]:
    """Place -> whether people call the answer right. Arguments and errors are those of `labels_by_place`."""
    return {place: label.correct for place, label in labels_by_place(text, cells, where).items()}


def labels_by_place(text: str, cells: Sequence[str], where: str) -> dict[Place, Label]:
    """Place -> its label, in the order of the lines.

    Args:
        text: the JSON lines; empty lines are passed over.
        cells: keys of the cells that answer with a model.
        where: the file, for messages.

    Raises:
        DatasetError: a line is no label, names a cell that the run has not, or labels an answer a second time.
    """
    labels: dict[Place, Label] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        label = _label(line, f"{where}, line {number}")
        cell = label.cell or _only(cells, f"{where}, line {number}")
        if cell not in cells:
            raise DatasetError(f"{where}, line {number}: no cell {cell!r} answers in this run: {', '.join(cells)} do")
        place = (cell, label.question_id)
        if place in labels:
            raise DatasetError(f"{where}, line {number}: labels {label.question_id!r} of {cell!r} a second time")
        labels[place] = label
    return labels


def reviewed_labels(before: Mapping[Place, Label], reviewed: Iterable[Label]) -> list[Label]:
    """The labels of a run whose review came to `reviewed`, each of which names its cell.

    Earlier labels out of a review are replaced; one that was handed in stays where the review says nothing of its
    answer.
    """
    derived = {(label.cell or "", label.question_id): label for label in reviewed}
    kept = {
        (cell, question_id): label.model_copy(update={"cell": cell})
        for (cell, question_id), label in before.items()
        if label.raters is None
    }
    return list((kept | derived).values())


def label_lines(labels: Iterable[Label]) -> str:
    """The text of labels.jsonl."""
    return "".join(json.dumps(label.model_dump(exclude_none=True)) + "\n" for label in labels)


def _label(line: str, where: str) -> Label:
    try:
        return Label.model_validate_json(line)
    except ValidationError as error:
        problem = content_problems(error, "the line", most=1)
        raise DatasetError(
            f'{where}: {problem}; a label is {{"question_id": "q1", "correct": true, "cell": "KEY"}}'
        ) from None


def _only(cells: Sequence[str], where: str) -> str:
    if len(cells) != 1:
        raise DatasetError(f"{where}: `cell` says whose answer is labelled, one of {', '.join(cells)}")
    return cells[0]


_WORD = re.compile(r"[a-z]+(?:\d+)?")


def family_of(model: str) -> str | None:
    """The family of `PROVIDER:NAME`, told by the words of its name; None = none that is known here."""
    name = model.partition(":")[2].casefold()
    words = {form for word in _WORD.findall(name) for form in (word, word.rstrip("0123456789"))}
    return next((members[0] for members in _families() if words & set(members)), None)


@cache
def _families() -> Sequence[Sequence[str]]:
    return list(read_yaml_file(Path(__file__).with_name("families.yaml"), "families of models"))


def same_family(judge: str, generator: str) -> bool:
    """Whether two models, each `PROVIDER:NAME`, are the same or of the same family."""
    return judge == generator or (family_of(judge) is not None and family_of(judge) == family_of(generator))
