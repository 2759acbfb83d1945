"""Small files in MuSiQue's official formats, small enough to work every figure out on paper."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Line = dict[str, Any]


def paragraph(idx: int, text: str, *, supporting: bool) -> Line:
    return {"idx": idx, "title": f"Title {idx}", "paragraph_text": text, "is_supporting": supporting}


def gold_line(number: int, answer: str, *aliases: str, answerable: bool = True) -> Line:
    """Record `number`: four paragraphs of its own, of which 1 and 2 support the answer."""
    texts = [f"Paragraph {idx} of record {number} speaks of {answer}." for idx in range(4)]
    return {
        "id": f"2hop__{number}_{number}",
        "question": f"Question {number}?",
        "paragraphs": [
            paragraph(idx, text, supporting=answerable and idx in (1, 2))
            for idx, text in enumerate(texts)
            if answerable or idx != 2
        ],
        "question_decomposition": [
            {"id": hop, "question": "?", "answer": "?", "paragraph_support_idx": idx if answerable else None}
            for hop, idx in ((1, 1), (2, 2))
        ],
        "answer": answer,
        "answer_aliases": list(aliases),
        "answerable": answerable,
    }


def predicted_line(number: int, answer: str, *support: int, answerable: bool = True) -> Line:
    return {
        "id": f"2hop__{number}_{number}",
        "predicted_answer": answer,
        "predicted_support_idxs": list(support),
        "predicted_answerable": answerable,
    }


def write_lines(path: Path, lines: Iterable[Line]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


ANSWERABLE = (gold_line(1, "Ilse Brandt", "I. Brandt"), gold_line(2, "the Tolm"), gold_line(3, "1811"))
PREDICTED = (predicted_line(1, "i. brandt", 1, 2), predicted_line(2, "Tolm River", 1, 3), predicted_line(3, "", 2))
OFFICIAL = {
    "answer_em": 1 / 3,
    "answer_f1": (1 + 2 / 3 + 0) / 3,
    "support_em": 1 / 3,
    "support_f1": (1 + 0.5 + 2 / 3) / 3,
}
"""Of PREDICTED against ANSWERABLE: an alias in another case; one word of one too many; nothing said."""

TWINS = (
    *(gold_line(1, "Ilse Brandt"), gold_line(1, "Ilse Brandt", answerable=False)),
    *(gold_line(2, "Tolm"), gold_line(2, "Tolm", answerable=False)),
)
PREDICTED_TWINS = (
    *(predicted_line(1, "Ilse Brandt", 1, 2), predicted_line(1, "Ilse Brandt", 1, answerable=False)),
    *(predicted_line(2, "Tolm", 1, 2), predicted_line(2, "Tolm", 1)),
)
OFFICIAL_TWINS = dict.fromkeys(OFFICIAL, 1.0) | {
    "group_answer_sufficiency_f1": 0.5,
    "group_support_sufficiency_f1": 0.5,
}
"""Of PREDICTED_TWINS against TWINS: of the second pair, the one without an answer was not recognised."""
