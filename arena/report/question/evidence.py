"""The documents that carry the evidence of a question, and what became of a document in a record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from arena.types import Answer, Document, Gold

_PIECE = re.compile(r"#\d{4,}$")  # pieces are named DOCUMENT#0000, DOCUMENT#0001, ...

_LANES = ("dense", "sparse", "rerank")


@dataclass(frozen=True, slots=True)
class GoldDocument:
    """A document with evidence. `title`: None = it is not known. `hops`: numbers from 1; empty = no order is known."""

    doc_id: str
    title: str | None
    hops: tuple[int, ...]

    @property
    def label(self) -> str:
        """As in `hop 2`, `hops 1, 3`, or `gold` where no order is known."""
        if not self.hops:
            return "gold"
        return f"hop{'s' if len(self.hops) > 1 else ''} {', '.join(map(str, self.hops))}"


@dataclass(frozen=True, slots=True)
class Mark:
    """What a document is to one record. `gold`: None = it carries no evidence that is known.

    `used`: it was shown to the call that wrote the answer. `cited`: the answer points to it.
    """

    gold: GoldDocument | None
    used: bool
    cited: bool


def gold_documents(gold: Gold, documents: Mapping[str, Document]) -> tuple[GoldDocument, ...]:
    """The gold documents, in the order of the hops where there is one; what serves no hop stands last."""
    hops: dict[str, list[int]] = {}
    for number, doc_id in enumerate(gold.hop_order or (), start=1):
        hops.setdefault(doc_id, []).append(number)
    ids = dict.fromkeys((*hops, *gold.supporting_ids))
    return tuple(GoldDocument(one, _title(one, documents), tuple(hops.get(one, ()))) for one in ids)


def lanes_of(names: Iterable[str]) -> list[str]:
    """Lanes in the order in which a retrieval goes through them, each once; others after them, by name."""
    return sorted(set(names), key=lambda name: (_LANES.index(name) if name in _LANES else len(_LANES), name))


def mark_of(doc_id: str, gold: Sequence[GoldDocument], answer: Answer | None) -> Mark:
    """The mark of a document in a record with that answer."""
    found = next((one for one in gold if one.doc_id == doc_id), None)
    if answer is None:
        return Mark(found, used=False, cited=False)
    return Mark(found, doc_id in answer.used_ids, doc_id in answer.cited_ids)


def gold_beyond(beyond: Sequence[str], gold: Sequence[GoldDocument]) -> list[tuple[int, GoldDocument]]:
    """Where evidence stands among the candidates that k had no room for: (place from 1, document)."""
    by_id = {one.doc_id: one for one in gold}
    if by_id.keys().isdisjoint(beyond) and "#" not in "".join(beyond):
        return []
    named = [by_id.get(one) or by_id.get(_PIECE.sub("", one)) for one in beyond]
    return [(place, found) for place, found in enumerate(named, start=1) if found]


def _title(doc_id: str, documents: Mapping[str, Document]) -> str | None:
    document = documents.get(doc_id)
    return document.title if document else None
