from __future__ import annotations

from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any

import pytest

from arena.datasets.records import fingerprint
from arena.types import Claim, Document, Gold, GoldSentence, Question

DOCUMENT = Document("d1", "Title", "Text.", {"year": 1900, "place": "Orrin"})
QUESTION = Question("q1", "Who?", "multi_hop", hops=2, hop_shape="2hop", split="dev")
GOLD = Gold("q1", ("Ada",), ("d1",), ("d1",), True, (Claim("Ada did.", ("d1",)),))

CHANGES: dict[type, dict[str, Any]] = {
    Document: {"doc_id": "d2", "title": "title", "text": "Text", "metadata": {"year": 1901, "place": "Orrin"}},
    Question: {"question_id": "q2", "text": "Who", "kind": "summary", "hops": 3, "hop_shape": "3hop1", "split": None},
    Gold: {
        "question_id": "q2",
        "answers": ("Ada", "A."),
        "supporting_ids": (),
        "hop_order": None,
        "answerable": False,
        "claims": (Claim("Ada did.", ()),),
        "sentences": (GoldSentence("d1", 0, 4),),
    },
}


def identity(changed: Document | Question | Gold | None = None) -> str:
    """The fingerprint of the three records, one of them exchanged."""
    document = changed if isinstance(changed, Document) else DOCUMENT
    question = changed if isinstance(changed, Question) else QUESTION
    gold = changed if isinstance(changed, Gold) else GOLD
    return fingerprint([document], [question], {"q1": gold})


def test_is_a_prefix_and_sixteen_hex_digits() -> None:
    prefix, _, digits = identity().partition("_")
    assert prefix == "ds"
    assert len(digits) == 16
    assert int(digits, 16) >= 0


@pytest.mark.parametrize(
    ("record", "field"),
    [
        (record, field.name)
        for record in (DOCUMENT, QUESTION, GOLD)
        for field in fields(record)
        if field.name != "official"
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_every_field_counts(record: Document | Question | Gold, field: str) -> None:
    changed = replace(record, **{field: CHANGES[type(record)][field]})
    assert identity(changed) != identity()


def test_what_follows_from_the_loader_does_not_count() -> None:
    assert identity(replace(GOLD, official=True)) == identity()


def test_order_of_documents_counts_and_order_of_mappings_does_not() -> None:
    other, other_gold = replace(DOCUMENT, doc_id="d2"), replace(GOLD, question_id="q2")
    assert fingerprint([DOCUMENT, other], [], {}) != fingerprint([other, DOCUMENT], [], {})
    assert fingerprint([], [], {"q1": GOLD, "q2": other_gold}) == fingerprint([], [], {"q2": other_gold, "q1": GOLD})
    turned = replace(DOCUMENT, metadata=MappingProxyType({"place": "Orrin", "year": 1900}))
    assert identity(turned) == identity()


def test_records_cannot_run_into_each_other() -> None:
    split = fingerprint([Document("a", "", "b"), Document("c", "", "d")], [], {})
    assert split != fingerprint([Document("a", "", 'b"}\n{"c')], [], {})


def test_what_has_no_canonical_form_is_refused() -> None:
    odd: Any = {"when": object()}
    with pytest.raises(TypeError, match="no canonical form"):
        identity(replace(DOCUMENT, metadata=odd))
