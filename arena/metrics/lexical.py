"""Whether texts carry a statement, told by its words alone: a proxy that needs no model.

A statement is a sentence of the answer. It is supported when enough of its content words stand in the texts, in any
order and any of them. That catches invented names and numbers; it does not see wrong relations between right words, nor
paraphrase. Never call it faithfulness without "lexical".
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache

from arena.text import content_words, sentences

SUPPORTED_AT = 0.7
"""Share of a statement's content words from which on it counts as supported."""

Words = frozenset[str]


@lru_cache(maxsize=32_768)  # the same documents meet every cell; as many as MuSiQue's corpus has
def _known_words(text: str) -> Words:
    """Content words of a text that is looked up often; equal words are one object, which halves the memory."""
    return frozenset(map(sys.intern, content_words(text, singles=True)))


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
