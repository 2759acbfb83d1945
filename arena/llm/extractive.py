"""How the fake model answers a prompt with passages: by copying a few words of the closest sentence.

It reads the form that prompts of this project have: passages that begin with `[1] Title: text`, and the
question on the last line that begins with `Question:`.
"""

from __future__ import annotations

import re

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
