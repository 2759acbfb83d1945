"""MuSiQue's own files, line by line: what a system predicted and what is right, in the setting of 20 paragraphs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OfficialPrediction:
    """One line of a prediction file. `support_idxs`: paragraphs of the record by their `idx`."""

    question_id: str
    answer: str
    support_idxs: tuple[int, ...]
    answerable: bool


@dataclass(frozen=True, slots=True)
class OfficialGold:
    """The labels of one record. `answers`: the main answer, then its aliases; of an unanswerable one nobody asks.

    In the full setting a question and its unanswerable twin share `question_id`.
    """

    question_id: str
    answers: tuple[str, ...]
    support_idxs: tuple[int, ...]
    answerable: bool
