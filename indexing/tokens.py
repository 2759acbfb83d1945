"""Where the tokens of a text begin, as chunking counts them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from arena.errors import WeightsError

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
