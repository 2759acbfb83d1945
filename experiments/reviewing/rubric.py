"""What reviewers are asked of every answer: binary criteria, each with what yes and no mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

Mark = Literal["y", "n", "na"]

MARKS: tuple[Mark, ...] = get_args(Mark)

READ_AS: Mapping[str, Mark] = {"y": "y", "yes": "y", "n": "n", "no": "n", "na": "na", "n/a": "na"}
"""What a reviewer may write, in lower case -> the mark that it is."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """One column of the sheet. `yes`: what `y` means; `not_applicable`: when to write `na` (empty: never)."""

    name: str
    yes: str
    not_applicable: str = ""


CORRECT, SUPPORTED = "correct", "every_statement_supported"

CRITERIA: tuple[Criterion, ...] = (
    Criterion(
        "right_format",
        "The answer has the form that the question asks for: a name, date or number and no more for a short question, "
        "connected prose for a summary. No left-over of a prompt, no list where none was asked for.",
        "the answer abstains",
    ),
    Criterion(
        "answers_this_question",
        "It answers the question that was put, and not a part of it or another one. It need not be right.",
        "the answer abstains",
    ),
    Criterion(
        CORRECT,
        "It says what a gold answer says. Other words, a fuller name or another notation are no error; an addition "
        "that is wrong is one.",
        "the answer abstains, or there is no gold answer",
    ),
    Criterion(
        SUPPORTED,
        "Every statement of the answer is stated in, or follows from, the passages shown. What is true and not in "
        "them is not supported.",
        "the answer states nothing",
    ),
    Criterion(
        "sources_used_rightly",
        "Every passage that the answer cites carries what it is cited for.",
        "the answer cites nothing",
    ),
    Criterion(
        "abstains_when_it_should",
        "It abstains and the passages do not hold the answer, or it answers and they do.",
    ),
)

_HOW = """\
How to fill in the sheet

One row is one answer. Judge each alone, from its row only; rows are in random order, and the same question comes more
than once. Write into the columns of the criteria:

    y     yes, without reservation
    n     no
    na    does not apply
    (empty) not judged

Leave all other columns as they are, except `rater` (your name, the same in every row) and `note` (anything you like).
Rows may be left empty. An apostrophe before a text keeps spreadsheets from taking it for a formula, a number or a date;
it is no part of the text. Save as CSV in UTF-8.
"""


def criteria_text() -> str:
    """The instructions that go with a sheet."""
    parts = [_HOW]
    for criterion in CRITERIA:
        not_applicable = f"\n    na if {criterion.not_applicable}." if criterion.not_applicable else ""
        parts.append(f"{criterion.name}\n    y if: {criterion.yes}{not_applicable}\n")
    return "\n".join(parts)
