"""What must hold of the documents, whatever is asked."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import TypeVar

from arena.datasets.world.promises import DOCUMENTS_PER_HOMONYM, HOMONYM_KINDS, PASSAGE_WORDS
from arena.datasets.world.proof.reading import Reading
from arena.types import Document

_T = TypeVar("_T", bound=Hashable)


def check_passages(documents: Sequence[Document], readings: Sequence[Reading]) -> Iterator[str]:
    """Unique ids and texts, understood sentences, passage lengths, no fact told twice, enough shared titles.

    `readings` belong to `documents`, in the same order.
    """
    yield from (f"{doc_id}: the id is used {n} times" for doc_id, n in _repeated(d.doc_id for d in documents))
    yield from (f"{title!r}: {n} equal passages" for (title, _), n in _repeated((d.title, d.text) for d in documents))
    for document, reading in zip(documents, readings, strict=True):
        yield from reading.problems
        words = len(document.text.split())
        if not PASSAGE_WORDS[0] <= words <= PASSAGE_WORDS[1]:
            yield f"{document.doc_id}: {words} words"
    told = Counter((fact.relation, fact.subject) for reading in readings for fact in reading.facts)
    yield from (f"{relation} of {subject!r} is told {n} times" for (relation, subject), n in told.items() if n > 1)
    yield from _check_homonyms(documents, readings)


def _check_homonyms(documents: Sequence[Document], readings: Sequence[Reading]) -> Iterator[str]:
    kinds: dict[str, set[str]] = defaultdict(set)
    for document, reading in zip(documents, readings, strict=True):
        if reading.kind is not None:
            if reading.kind in kinds[document.title]:
                yield f"{document.doc_id}: a second {reading.kind} is called {document.title!r}"
            kinds[document.title].add(reading.kind)
    shared = sum(len(bearers) >= HOMONYM_KINDS for bearers in kinds.values())
    wanted = len(documents) // DOCUMENTS_PER_HOMONYM
    if shared < wanted:
        yield f"{shared} titles are shared by {HOMONYM_KINDS} kinds, not {wanted}"


def _repeated(items: Iterator[_T]) -> list[tuple[_T, int]]:
    return [(item, count) for item, count in Counter(items).items() if count > 1]
