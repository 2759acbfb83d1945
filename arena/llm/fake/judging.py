"""How the fake model answers prompts with passages and judges for ragas: by the words that texts share.

An answer copies a few words of the closest sentence. It is found by the form that prompts of this project have:
passages that begin with `[1] Title: text`, and the question on the last line that begins with `Question:`. A prompt of
ragas holds what is judged as a JSON object between `input: ` and `Output: ` at the end, and the schema of the reply
says what of. Neither is more than a deterministic stand-in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from arena.text import ABSTENTION

_PASSAGE = re.compile(r"^\[\d+\] ?(?P<first>.*)$")
_END_OF_PASSAGE = re.compile(r"^(\s*|Question:.*|[<#`=-].*)$")
_QUESTION = re.compile(r"^Question:\s*(.+)$", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"'(]?[A-Z0-9])")
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"[A-Z][\w'-]*(?: (?:(?:of|the|de|la|van|von|and) )?[A-Z][\w'-]*)*")
_NUMBER = re.compile(r"\d[\d,.]*\d|\d")
_LAST_WORDS = 3
_EMPTY_WORDS = frozenset(
    word
    for line in (
        "a an and are as at be been by did do does for from had has have he her his how in is it its many much",
        "of on or she that the their they this to was were what when where which who whom whose why will with",
    )
    for word in line.split()
)


def answer(prompt: str) -> str:
    """A short span of the sentence that shares most words with the question; else `ABSTENTION`.

    The span is the first run of capitalised words that is not in the question, else the first
    number not in the question, else the sentence's last three words. Ties go to the earliest sentence.
    """
    questions: list[str] = _QUESTION.findall(prompt)
    asked = content_words(questions[-1]) if questions else set()
    sentences = [sentence for passage in passages(prompt) for sentence in _SENTENCE_END.split(passage)]
    overlaps = [len(asked & content_words(sentence)) for sentence in sentences]
    if not overlaps or max(overlaps) == 0:
        return ABSTENTION
    return _span(sentences[overlaps.index(max(overlaps))], asked)


def passages(prompt: str) -> list[str]:
    """The numbered passages of `prompt`, each on one line, without its number and title."""
    return [text for _, text in titled_passages(prompt)]


def titled_passages(prompt: str) -> list[tuple[str, str]]:
    """Title and text of each numbered passage of `prompt`; the title is empty where there is none."""
    found: list[tuple[str, str]] = []
    inside = False
    for line in prompt.splitlines():
        start = _PASSAGE.match(line)
        if start:
            title, colon, text = start["first"].partition(": ")
            found.append((title, text) if colon else ("", title))
        elif inside and not _END_OF_PASSAGE.match(line):
            title, text = found[-1]
            found[-1] = (title, f"{text} {line}")
        inside = bool(start) or (inside and not _END_OF_PASSAGE.match(line))
    return found


def content_words(text: str) -> set[str]:
    """The words of `text` in small letters, without those that carry no meaning of their own."""
    return {word for word in _WORD.findall(text.lower()) if word not in _EMPTY_WORDS}


def _span(sentence: str, asked: set[str]) -> str:
    for pattern in (_NAME, _NUMBER):
        for span in pattern.findall(sentence):
            words = content_words(span)
            if words and not words & asked:
                return str(span)
    return " ".join(sentence.rstrip(".!?").split()[-_LAST_WORDS:])


_INPUT = re.compile(r"\nNow perform the same with the following input\ninput: (?P<input>\{.*\})\nOutput: \Z", re.DOTALL)
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
