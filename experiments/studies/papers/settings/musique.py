"""MuSiQue's own systems: arXiv 2108.00573, tables 3 to 5, and the README of StonyBrookNLP/musique @922ac98f."""

from __future__ import annotations

from experiments.studies.papers.numbers import PublishedNumber
from experiments.studies.papers.settings.shape import NoCounterpart, SettingsOf

PAPER = "MuSiQue"


def settings_of(number: PublishedNumber) -> SettingsOf:
    """None of its systems is here: they are people, or models trained on the 20 paragraphs of each question."""
    if number.metric not in ("answer F1", "answer_f1"):
        return None
    if number.llm == "human":
        return NoCounterpart("people answered, with the paragraphs of the question at hand")
    return NoCounterpart("a model trained to read the 20 paragraphs of its question; the arena searches a pool")
