from __future__ import annotations

from arena.types import Document, Passage
from indexing.chunking import indexed_text, passages_of


def test_a_document_is_one_passage() -> None:
    (passage,) = passages_of([Document("d", "Title", "Some text.", {"year": 1871})])
    assert passage == Passage("d", "d", "Title", "Some text.", 0, 10)


def test_passages_come_in_id_order() -> None:
    passages = passages_of([Document(name, "", name) for name in ("b", "a10", "a9")])
    assert [passage.passage_id for passage in passages] == ["a10", "a9", "b"]


def test_the_title_is_read_with_the_text() -> None:
    assert indexed_text(Passage("d", "d", "Title", "Text", 0, 4)) == "Title\nText"
    assert indexed_text(Passage("d", "d", "", "Text", 0, 4)) == "Text"
