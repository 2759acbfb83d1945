from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import ConfigError, WeightsError
from arena.types import Document, Passage
from indexing.chunking import (
    WORDS,
    ModelTokenizer,
    Tokenizer,
    TokenWindows,
    indexed_text,
    longest_that_fit,
    passages_of,
)

TEXTS = st.text(st.sampled_from("ab é,.\n\t🚢𝄞ß"), max_size=80) | st.text(st.characters(exclude_categories=["Cs"]))


class Letters:
    """Every character is a token: the finest splitting there can be."""

    name = "letters"

    def starts(self, texts: Sequence[str]) -> list[list[int]]:
        return [list(range(len(text))) for text in texts]


@pytest.fixture(scope="module")
def model_tokenizer(tiny_folder: Path) -> ModelTokenizer:
    return ModelTokenizer(tiny_folder)


def cut(text: str, size: int, overlap: int, tokenizer: Tokenizer = WORDS) -> list[Passage]:
    return list(TokenWindows(size, overlap, tokenizer).cut([Document("d", "Title", text)]))


def test_a_document_is_one_passage() -> None:
    (passage,) = passages_of([Document("d", "Title", "Some text.", {"year": 1871})])
    assert passage == Passage("d", "d", "Title", "Some text.", 0, 10)


def test_passages_come_in_id_order() -> None:
    passages = passages_of([Document(name, "", name) for name in ("b", "a10", "a9")])
    assert [passage.passage_id for passage in passages] == ["a10", "a9", "b"]


def test_the_title_is_read_with_the_text() -> None:
    assert indexed_text(Passage("d", "d", "Title", "Text", 0, 4)) == "Title\nText"
    assert indexed_text(Passage("d", "d", "", "Text", 0, 4)) == "Text"


def test_windows_of_words() -> None:
    assert cut(" one two  three four five", 3, 1) == [
        Passage("d#0000", "d", "Title", " one two  three ", 0, 16),
        Passage("d#0001", "d", "Title", "three four five", 10, 25),
    ]


def test_a_text_that_fits_is_one_chunk() -> None:
    assert [chunk.text for chunk in cut("one two three", 3, 2)] == ["one two three"]


@pytest.mark.parametrize("text", ["", " \n "])
def test_a_text_without_tokens_is_one_passage(text: str) -> None:
    assert cut(text, 5, 0) == [Passage("d#0000", "d", "Title", text, 0, len(text))]
    assert passages_of([Document("d", "", text)]) == (Passage("d", "d", "", text, 0, len(text)),)


@given(text=TEXTS, size=st.integers(1, 7), data=st.data(), kind=st.sampled_from(["words", "letters", "model"]))
def test_chunks_are_slices_that_cover_the_text(
    model_tokenizer: ModelTokenizer, text: str, size: int, data: st.DataObject, kind: str
) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    tokenizers: dict[str, Tokenizer] = {"words": WORDS, "letters": Letters(), "model": model_tokenizer}
    tokenizer = tokenizers[kind]
    chunks = cut(text, size, overlap, tokenizer)
    (starts,) = tokenizer.starts([text])
    borders = [0, *starts[1:], len(text)]

    assert all(text[chunk.start_char : chunk.end_char] == chunk.text for chunk in chunks)
    assert all(chunk.text for chunk in chunks) or not text
    assert chunks[0].start_char == 0
    assert chunks[-1].end_char == len(text)
    assert [chunk.passage_id for chunk in chunks] == [f"d#{number:04}" for number in range(len(chunks))]
    assert {(chunk.doc_id, chunk.title) for chunk in chunks} == {("d", "Title")}
    for first, second in pairwise(chunks):
        assert first.start_char < second.start_char <= first.end_char < second.end_char
        assert borders.index(first.end_char) - borders.index(second.start_char) == overlap
        assert borders.index(first.end_char) - borders.index(first.start_char) == size
    if overlap == 0:
        assert "".join(chunk.text for chunk in chunks) == text


@given(st.lists(TEXTS, max_size=5), st.integers(1, 4))
def test_chunks_do_not_depend_on_other_documents(texts: list[str], size: int) -> None:
    documents = [Document(f"d{number}", "", text) for number, text in enumerate(texts)]
    together = set(passages_of(documents, TokenWindows(size)))
    assert together == {chunk for document in documents for chunk in TokenWindows(size).cut([document])}


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (-1, 0), (5, 5), (5, -1)])
def test_windows_that_mean_nothing_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(ConfigError, match=f"{size} tokens cannot overlap by {overlap}"):
        TokenWindows(size, overlap)


def test_every_choice_is_in_the_identity(model_tokenizer: ModelTokenizer) -> None:
    choices = [TokenWindows(5), TokenWindows(6), TokenWindows(5, 1), TokenWindows(5, 0, model_tokenizer)]
    assert len({json.dumps(dict(choice.identity), sort_keys=True) for choice in choices}) == 4
    assert choices[0].identity["tokenizer"] == "words"
    assert str(choices[3].identity["tokenizer"]).startswith("sha256:")


def test_a_model_tokenizer_neither_cuts_nor_frames(model_tokenizer: ModelTokenizer) -> None:
    assert model_tokenizer.starts(["ab c " * 20, ""]) == [[5 * n + at for n in range(20) for at in (0, 1, 3)], []]


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"tokenizer\.json"):
        ModelTokenizer(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(WeightsError, match="no tokenizer in"):
        ModelTokenizer(tmp_path)


def test_what_fits_is_the_largest_size_that_cuts_nothing_off_titles_counted() -> None:
    """A model that reads twelve words of title and text together."""

    def count_truncated(texts: Sequence[str]) -> int:
        return sum(len(text.split()) > 12 for text in texts)

    documents = [
        Document("a", "one two three", " ".join(f"w{n}" for n in range(100))),
        Document("b", "", "short"),
        Document("c", "x " * 11, " ".join(f"w{n}" for n in range(9))),
    ]
    assert longest_that_fit(documents, WORDS, count_truncated, 12) == 1
    assert longest_that_fit(documents[:2], WORDS, count_truncated, 12) == 9
    assert longest_that_fit([Document("d", "x " * 20, "a b")], WORDS, count_truncated, 12) is None
