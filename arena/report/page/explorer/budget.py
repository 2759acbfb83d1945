"""How much of a run fits the page, by the size of what is written, measured.

Every question of every cell stays, with each hit, decision, score and call. What gives way where there is no room, in
this order: the texts of documents, down to their first words; the lanes of the hits; the length of answers and of what
controllers and judges wrote. The same run is always cut in the same places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from arena.report.page.explorer.chunk import Chunk
from arena.report.page.explorer.columns import n_cut
from arena.report.page.explorer.framing import island_chars, member, members
from arena.report.page.explorer.listing import Answers
from arena.report.page.explorer.shelf import DocumentShelf

Length = TypeVar("Length")
Made = TypeVar("Made")

ISLAND_CHARS = 5_000_000
"""What the explorer may take of a page."""

CONTENTS_CHARS = 40_000
"""Kept free for the table of contents."""

WORDS_CHARS = (4_000, 1_000, 300, 100)
"""Lengths to which answers and other texts of records are cut: the first with which they leave room for the rest."""

TEXTS_CHARS = (None, 8_000, 4_000, 2_000, 1_400, 1_000, 700, 500, 350, 250, 180, 150, 120, 100, 80, 60, 40)
"""Lengths to which documents are cut: the first that fits. None = whole; of none that fits, no text is kept."""


@dataclass(frozen=True, slots=True)
class Writing:
    """Answers and words cut to `chars`; `n_cut` of them were longer."""

    chars: int
    answers: bytes
    words: list[bytes]
    n_cut: int

    @property
    def size(self) -> int:
        """In characters of the island."""
        return sum(map(island_chars, map(len, (self.answers, *self.words))))


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts of documents, cut to `chars` (None: whole; 0: none is kept). `members`: (number of the first, member)."""

    chars: int | None
    members: list[tuple[int, bytes]]
    n_cut: int = 0

    @property
    def size(self) -> int:
        """In characters of the island."""
        return sum(island_chars(len(content)) for _, content in self.members)


def fitting_writing(answers: Answers, chunks: Sequence[Chunk], room: int) -> Writing:
    """The longest that takes at most half the `room`, in characters of the island; else the shortest."""

    def cut_to(chars: int) -> Writing:
        held, words = answers.written(chars), [chunk.words(chars) for chunk in chunks]
        cut = n_cut(held["texts"]) + sum(map(n_cut, words))
        return Writing(chars, member(held), members(words), cut)

    return _longest(WORDS_CHARS, cut_to, lambda writing: writing.size <= room // 2) or cut_to(WORDS_CHARS[-1])


def fitting_texts(shelf: DocumentShelf, room: int) -> Texts:
    """The longest that fits the `room`, in characters of the island."""

    def cut_to(chars: int | None) -> Texts:
        held = list(shelf.members(chars))
        written = members(one.texts for one in held)
        firsts = (one.first for one in held)
        return Texts(chars, list(zip(firsts, written, strict=True)), sum(n_cut(one.texts) for one in held))

    found = _longest(TEXTS_CHARS, cut_to, lambda texts: texts.size <= room)
    return found or Texts(0, [], n_cut=len(shelf))


def _longest(lengths: Sequence[Length], make: Callable[[Length], Made], fits: Callable[[Made], bool]) -> Made | None:
    """What is made of the first of `lengths` that fits (None: of none); the first by a look, the others by halves.

    They go from long to short, and what is made of a shorter one is smaller.
    """
    made = make(lengths[0])
    if fits(made):
        return made
    found, low, high = None, 1, len(lengths)
    while low < high:
        middle = (low + high) // 2
        made = make(lengths[middle])
        if fits(made):
            found, high = made, middle
        else:
            low = middle + 1
    return found
