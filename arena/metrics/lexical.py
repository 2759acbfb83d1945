"""Whether texts carry a statement, told by its words alone: a proxy that needs no model.

A statement is a sentence of the answer. It is supported when enough of its content words stand in the texts, in any
order and any of them. That catches invented names and numbers; it does not see wrong relations between right words, nor
paraphrase. Never call it faithfulness without "lexical".
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from arena.metrics.sentences import sentences
from arena.metrics.stop_words import STOP_WORDS

SUPPORTED_AT = 0.7
"""Share of a statement's content words from which on it counts as supported."""

Words = frozenset[str]

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_CLITIC = re.compile(r"'(?:s|re|ve|ll|d|m)\b")


def content_words(text: str) -> Words:
    """The distinct words of `text` without stop words, case-folded, compatibility forms unified (NFKC).

    A hyphen separates words, an apostrophe does not, and "'s" and its like are taken off.
    """
    plain = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    if "'" in plain:
        plain = _CLITIC.sub("", plain)
    return frozenset(_WORD.findall(plain)) - STOP_WORDS


@lru_cache(maxsize=32_768)  # the same documents meet every cell; as many as MuSiQue's corpus has
def _known_words(text: str) -> Words:
    """Content words of a text that is looked up often; equal words are one object, which halves the memory."""
    return frozenset(map(sys.intern, content_words(text)))


@lru_cache(maxsize=4_096)  # every metric of one record asks
def statements(answer: str) -> tuple[Words, ...]:
    """The content words of each sentence, in order; a sentence that has none states nothing and is left out."""
    return tuple(words for sentence in sentences(answer) if (words := content_words(sentence)))


def share_found(statement: Words, texts: Iterable[str]) -> float:
    """Share of the words of `statement` (not empty) that stand in any of the texts, in [0, 1]."""
    missing = statement
    for text in texts:
        missing = missing - _known_words(text)
    return (len(statement) - len(missing)) / len(statement)


def is_supported(statement: Words, texts: Iterable[str]) -> bool:
    """Whether the texts together carry the statement. No texts carry none."""
    return share_found(statement, texts) >= SUPPORTED_AT


def supported_share(answer: str, texts: Sequence[str]) -> float | None:
    """Share of the answer's statements that the texts together carry, in [0, 1]; 0.0 for no texts.

    None where the answer states nothing.
    """
    made = statements(answer)
    return sum(is_supported(statement, texts) for statement in made) / len(made) if made else None
