"""The published figures of numbers.json, each with its table, and which datasets of the papers a run's dataset may be.

A dataset is told by its name alone: what it holds is compared setting by setting. The 500 questions of MuSiQue that
IRCoT and Adaptive-RAG were tested on are drawn again here.

Both papers use the test set that IRCoT's `subsample_dataset_and_remap_paras.py` (@68f617ec) draws from the official dev
file: 100 questions for development, then 500 of the others, Python's generator seeded with 13370 before each. The file
that the authors published was not at hand to be held against this.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from arena.errors import DatasetError

_FILE = Path(__file__).with_name("numbers.json")
_RATIOS = {"%": 100.0, "fraction": 1.0}
"""Unit as printed -> what a printed value is divided by to be a ratio."""


@dataclass(frozen=True, slots=True)
class PublishedNumber:
    """One cell of a published table, as printed. `suspicious`: why it is doubted (None: it is not).

    `llm`: the reader as the table names it, which need not be the model's full name.
    """

    paper: str
    table: str
    dataset: str
    system: str
    llm: str
    metric: str
    value: float
    unit: str
    source: str
    suspicious: str | None = None

    @property
    def ratio(self) -> tuple[float, str]:
        """Value and unit, percentages and fractions as ratios; anything else as printed."""
        if self.unit in _RATIOS:
            return self.value / _RATIOS[self.unit], "ratio"
        return self.value, self.unit


@cache
def published_numbers() -> tuple[PublishedNumber, ...]:
    """All of them, paper by paper in the order of their tables."""
    return tuple(PublishedNumber(**row) for row in json.loads(_FILE.read_text(encoding="utf-8")))


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


SEED, N_DEV, N_TEST = 13370, 100, 500
MUSIQUE_DEV = 2_417
"""Questions of MuSiQue-Ans' dev file; another file is not what they were drawn from."""


def draw(question_ids: Sequence[str]) -> tuple[str, ...]:
    """The ids of the test questions, in the order in which they are drawn.

    `question_ids`: those of musique_ans_v1.0_dev.jsonl, in the order of the file.

    Raises:
        DatasetError: it is another number of questions.
    """
    if len(question_ids) != MUSIQUE_DEV:
        raise DatasetError(
            f"the 500 test questions were drawn from the {MUSIQUE_DEV:,} of musique_ans_v1.0_dev.jsonl, and these are "
            f"{len(question_ids):,}: name that file"
        )
    development = set(random.Random(SEED).sample(list(question_ids), N_DEV))
    others = [one for one in question_ids if one not in development]
    return tuple(random.Random(SEED).sample(others, N_TEST))
