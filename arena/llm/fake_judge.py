"""How the fake model judges for ragas: by the words that texts share. A deterministic stand-in, and no judge.

It reads the form that ragas' prompts have: what is judged stands as a JSON object between `input: ` and `Output: ` at
the end, and the schema of the reply says what of.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from arena.llm.extractive import content_words

_INPUT = re.compile(r"\nNow perform the same with the following input\ninput: (?P<input>\{.*\})\nOutput: \Z", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"'(]?[A-Z0-9])")
_CARRIED = 0.7  # of a statement's words
_REASON = "by shared words"

Fields = Mapping[str, Any]


def judged_form(properties: Fields, turns: Sequence[str]) -> str | None:
    """The reply to the last turn that is a prompt of ragas, as JSON; None = none is, or it is of a kind not known here.

    `properties`: fields of the reply's schema.
    """
    found = next((prompt for turn in reversed(turns) if (prompt := _INPUT.search(turn))), None)
    if found is None:
        return None
    try:
        given = json.loads(found["input"])
    except (ValueError, RecursionError):
        return None
    for wanted, needed, rule in _RULES:
        if wanted <= properties.keys() and needed <= given.keys():
            return json.dumps(rule(given), ensure_ascii=False)
    return None


def _rating(given: Fields) -> Fields:
    """4 for the same words, 2 where one text has all words of the other, else 0."""
    answer, reference = content_words(given["user_answer"]), content_words(given["reference_answer"])
    if answer == reference:
        return {"rating": 4}
    return {"rating": 2 if answer and reference and (answer <= reference or reference <= answer) else 0}


def _verdicts(given: Fields) -> Fields:
    return {
        "statements": [
            {"statement": one, "reason": _REASON, "verdict": _carried(one, given["context"])}
            for one in given["statements"]
        ]
    }


def _statements(given: Fields) -> Fields:
    return {"statements": _sentences(given["answer"])}


def _classifications(given: Fields) -> Fields:
    return {
        "classifications": [
            {"statement": one, "reason": _REASON, "attributed": _carried(one, given["context"])}
            for one in _sentences(given["answer"])
        ]
    }


def _usefulness(given: Fields) -> Fields:
    shared = content_words(given["answer"]) & content_words(given["context"])
    return {"reason": _REASON, "verdict": int(bool(shared))}


def _question(given: Fields) -> Fields:
    """The answer itself, as a question; one that says that it does not know is noncommittal."""
    response = given["response"]
    return {"question": f"{response.rstrip('.!?')}?", "noncommittal": int("don't know" in response.casefold())}


def _classes(given: Fields) -> Fields:
    ours, theirs = given["answer"], given["ground_truth"]

    def listed(statements: list[str]) -> list[Fields]:
        return [{"statement": one, "reason": _REASON} for one in statements]

    right = [one for one in ours if _carried(one, " ".join(theirs))]
    lacking = [one for one in theirs if not _carried(one, " ".join(ours))]
    return {"TP": listed(right), "FP": listed([one for one in ours if one not in right]), "FN": listed(lacking)}


_RULES: tuple[tuple[set[str], set[str], Callable[[Fields], Fields]], ...] = (
    ({"rating"}, {"user_answer", "reference_answer"}, _rating),
    ({"statements"}, {"statements", "context"}, _verdicts),
    ({"statements"}, {"answer"}, _statements),
    ({"classifications"}, {"answer", "context"}, _classifications),
    ({"verdict"}, {"answer", "context"}, _usefulness),
    ({"question", "noncommittal"}, {"response"}, _question),
    ({"TP", "FP", "FN"}, {"answer", "ground_truth"}, _classes),
)


def _carried(statement: str, context: str) -> int:
    words = content_words(statement)
    return int(bool(words) and len(words & content_words(context)) >= _CARRIED * len(words))


def _sentences(text: str) -> list[str]:
    return [one for one in (sentence.strip() for sentence in _SENTENCE_END.split(text)) if one]
