"""Which datasets of the papers a run's dataset is, by its name alone: what they hold is compared setting by setting."""

from __future__ import annotations

import re
from collections.abc import Mapping

_MUSIQUE = ("MuSiQue", "MuSiQue-Ans dev")
_NAMES: Mapping[str, tuple[str, ...]] = {
    "musique": _MUSIQUE,
    "hotpotqa": ("HotpotQA",),
    "2wikimultihopqa": ("2WikiMultiHopQA",),
    "2wiki": ("2WikiMultiHopQA",),
    "popqa": ("PopQA",),
    "triviaqa": ("TriviaQA",),
    "nq": ("NQ",),
    "squad": ("SQuAD",),
    "webquestions": ("WebQuestions",),
    "quality": ("QuALITY",),
    "legal": ("UltraDomain-Legal",),
    "medical": ("GraphRAG-Bench Medical",),
}
_BY_ARGUMENT = ("ragrouter", "jsonl")
"""Datasets that hold one thing or another: the last part of what stands after the colon says which."""


def published_datasets(spec: str) -> frozenset[str]:
    """Their names in the papers' tables; empty where no paper used a dataset of that name, as with `world`.

    `spec`: as a run names its dataset: `musique:dev.jsonl`, `ragrouter:quality`, `jsonl:data/popqa_longtail`.
    """
    head, _, argument = spec.partition(":")
    if head in _BY_ARGUMENT:
        place = argument.partition(":")[0] if head == "ragrouter" else argument
        words = re.split(r"[^a-z0-9]+", re.split(r"[/\\]", place.rstrip("/\\"))[-1].lower())
        if head == "ragrouter" and (
            not place or ":" in argument
        ):  # only its questions on MuSiQue go with MuSiQue's file
            words = ["musique"]
    else:
        words = [head]
    return frozenset(name for word in words for name in _NAMES.get(word, ()))
