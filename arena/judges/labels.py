"""What people say of the answers of a run: JSON lines `{"question_id": "q1", "correct": true, "cell": "KEY"}`.

`cell` may be left out where one cell alone answers with a model.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, StrictBool, ValidationError

from arena.errors import DatasetError

Place = tuple[str, str]
"""(cell key, question id)."""


class Label(BaseModel):
    """Whether one answer is right."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question_id: str
    correct: StrictBool
    cell: str | None = None


def read_labels(text: str, cells: Sequence[str], where: str) -> dict[Place, bool]:
    """Place -> whether a person calls the answer right.

    Args:
        text: the JSON lines; empty lines are passed over.
        cells: keys of the cells that answer with a model.
        where: the file, for messages.

    Raises:
        DatasetError: a line is no label, names a cell that the run has not, or labels an answer a second time.
    """
    labels: dict[Place, bool] = {}
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
        labels[place] = label.correct
    return labels


def _label(line: str, where: str) -> Label:
    try:
        return Label.model_validate_json(line)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        place = ".".join(map(str, problem["loc"])) or "the line"
        raise DatasetError(
            f'{where}: {place}: {problem["msg"]}; a label is {{"question_id": "q1", "correct": true, "cell": "KEY"}}'
        ) from None


def _only(cells: Sequence[str], where: str) -> str:
    if len(cells) != 1:
        raise DatasetError(f"{where}: `cell` says whose answer is labelled, one of {', '.join(cells)}")
    return cells[0]
