"""Cut documents into passages, the unit of retrieval, by tokens; and make the text by which a passage is found."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from arena.errors import ConfigError, WeightsError
from arena.types import Document, Passage

_WORD = re.compile(r"\S+")


class Tokenizer(Protocol):
    """Splits texts into tokens; the same text always the same way."""

    @property
    def name(self) -> str:
        """What identifies the splitting: `words`, or the hash of a model's tokenizer."""
        ...

    def starts(self, texts: Sequence[str]) -> list[list[int]]:
        """The character at which each token of each text begins, strictly increasing; empty without tokens."""
        ...


class Words:
    """Runs of characters between white space."""

    @property
    def name(self) -> str:
        return "words"

    def starts(self, texts: Sequence[str]) -> list[list[int]]:
        return [[match.start() for match in _WORD.finditer(text)] for text in texts]


WORDS = Words()


class ModelTokenizer:
    """The tokens a model reads, by the `tokenizer.json` in its folder; the tokens that frame a text are left out.

    Tokens that begin at the same character, as the bytes of a rare one do, count as one.
    Raises `WeightsError` when the file cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        file = folder / "tokenizer.json"
        try:
            content = file.read_bytes()
        except OSError as error:
            raise WeightsError(
                f"cannot read {str(file)!r}: {error.strerror or error}; `arena models fetch` brings it"
            ) from error
        self._name = f"sha256:{hashlib.sha256(content).hexdigest()}"
        try:
            self._tokenizer = _fast_tokenizer(content)
        except ValueError as error:
            raise WeightsError(f"no tokenizer in {str(file)!r}: {error}; `arena models fetch` brings it") from error

    @property
    def name(self) -> str:
        return self._name

    def starts(self, texts: Sequence[str]) -> list[list[int]]:
        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [sorted({start for start, end in text.offsets if start < end}) for text in encoded]


def _fast_tokenizer(content: bytes) -> Any:
    from tokenizers import Tokenizer as FastTokenizer

    tokenizer = FastTokenizer.from_buffer(content)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


INDEXED_TEXT = "title, newline, text"
_SEARCHED = 200  # documents that a fitting size is looked for on
BATCH_DOCUMENTS = 1000  # documents tokenised at once; bounds the memory of a corpus of millions


class Chunking(Protocol):
    """How documents become passages. Every document becomes at least one, an empty document too."""

    @property
    def identity(self) -> Mapping[str, str | int]:
        """What can change a passage or the text it is found by; part of an index's identity."""
        ...

    def cut(self, documents: Iterable[Document]) -> Iterator[Passage]:
        """The passages of each document, in text order, with the document's title."""
        ...


class WholeDocuments:
    """One passage for each whole document, under the document's id."""

    @property
    def identity(self) -> Mapping[str, str | int]:
        return {"method": "document", "indexed_text": INDEXED_TEXT}

    def cut(self, documents: Iterable[Document]) -> Iterator[Passage]:
        for document in documents:
            yield Passage(document.doc_id, document.doc_id, document.title, document.text, 0, len(document.text))


WHOLE_DOCUMENTS = WholeDocuments()


@dataclass(frozen=True, slots=True)
class TokenWindows:
    """Windows of `size` tokens of the text, each sharing exactly `overlap` tokens with the one before it.

    A passage is a slice of its document's text: from its first token (the first passage: from the start) up to the
    token after its last (the last passage: to the end), so that passages without overlap join to the text.
    Only the last passage of a document may be shorter than `size`. Ids are `DOCUMENT#0000`, `DOCUMENT#0001`, ...
    A text without tokens is one passage. The title counts nothing towards `size`.
    Raises `ConfigError` unless 0 <= overlap < size.
    """

    size: int
    overlap: int = 0
    tokenizer: Tokenizer = WORDS

    def __post_init__(self) -> None:
        if not 0 <= self.overlap < self.size:
            raise ConfigError(
                f"chunks of {self.size!r} tokens cannot overlap by {self.overlap!r}: choose a size of at least 1 "
                "and an overlap from 0 to below it"
            )

    @property
    def identity(self) -> Mapping[str, str | int]:
        return {
            "method": "tokens",
            "size_tokens": self.size,
            "overlap_tokens": self.overlap,
            "tokenizer": self.tokenizer.name,
            "indexed_text": INDEXED_TEXT,
        }

    def cut(self, documents: Iterable[Document]) -> Iterator[Passage]:
        remaining = iter(documents)
        while batch := list(islice(remaining, BATCH_DOCUMENTS)):
            starts = self.tokenizer.starts([document.text for document in batch])
            yield from _windowed(zip(batch, starts, strict=True), self.size, self.overlap)


def _windowed(tokenized: Iterable[tuple[Document, Sequence[int]]], size: int, overlap: int = 0) -> Iterator[Passage]:
    """The windows of documents with the starts of their tokens."""
    for document, starts in tokenized:
        borders = [0, *starts[1:], len(document.text)] if starts else [0, len(document.text)]
        last = len(borders) - 1
        for number, first in enumerate(range(0, max(last - overlap, 1), size - overlap)):
            start, end = borders[first], borders[min(first + size, last)]
            name = f"{document.doc_id}#{number:04}"
            yield Passage(name, document.doc_id, document.title, document.text[start:end], start, end)


def passages_of(documents: Iterable[Document], chunking: Chunking = WHOLE_DOCUMENTS) -> tuple[Passage, ...]:
    """The passages of a corpus, in id order."""
    return tuple(sorted(chunking.cut(documents), key=lambda passage: passage.passage_id))


def indexed_text(passage: Passage) -> str:
    """What both lanes and a reranker read: the title names the entity that the text may only call "it"."""
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text


def longest_that_fit(
    documents: Sequence[Document], tokenizer: Tokenizer, count_truncated: Callable[[Sequence[str]], int], limit: int
) -> int | None:
    """The largest `TokenWindows.size` of which no chunk of `documents` is cut off by a model that reads `limit` tokens.

    Searched on the longest documents and those with the longest titles, then held against all. `count_truncated`: of
    texts, how many are too long. None where not even chunks of one token fit, as with titles longer than the limit.
    """
    longest = sorted(documents, key=lambda one: -len(one.title) - len(one.text))[:_SEARCHED]
    titled = sorted(documents, key=lambda one: -len(one.title))[:_SEARCHED]
    searched = list({one.doc_id: one for one in (*longest, *titled)}.values())

    def fits(chunks: Iterable[Passage]) -> bool:
        return not count_truncated([indexed_text(one) for one in chunks])

    tokens = list(zip(searched, tokenizer.starts([one.text for one in searched]), strict=True))
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(_windowed(tokens, middle)) else (low, middle - 1)
    while low and not fits(TokenWindows(low, 0, tokenizer).cut(documents)):
        low -= max(1, low // 20)
    return low or None
