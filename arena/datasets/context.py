"""The context of one HotpotQA or 2WikiMultihopQA record: its paragraphs in the pool, found again by title."""

from __future__ import annotations

import html
import unicodedata
from dataclasses import dataclass, field

from arena.datasets.lines import Row
from arena.datasets.pool import Pool


@dataclass(slots=True)
class Context:
    """Paragraphs of one record. `empty`: how many had a title but no text, and are not in the pool."""

    empty: int = 0
    _paragraphs: dict[str, list[tuple[str, int]]] = field(default_factory=dict)

    def add(self, title: str, doc_id: str, n_sentences: int) -> None:
        """Note the pooled document of a paragraph."""
        self._paragraphs.setdefault(_plain(title), []).append((doc_id, n_sentences))

    def find(self, title: str, sentence: int) -> str | None:
        """The document of this title; of several, the first that has the sentence, else the first. None: not here.

        Titles match whatever their case, Unicode form or HTML escapes, as the files use them unevenly.
        """
        paragraphs = self._paragraphs.get(_plain(title), ())
        having = [doc_id for doc_id, n_sentences in paragraphs if 0 <= sentence < n_sentences]
        return next(iter([*having, *(doc_id for doc_id, _ in paragraphs)]), None)


def read_context(row: Row, pool: Pool) -> Context:
    """The paragraphs in field `context`, each added to the pool.

    Raises:
        DatasetError: the field is absent or not a list of [title, [sentences]].
    """
    context = Context()
    for index, paragraph in enumerate(row.items("context", list)):
        if len(paragraph) != 2 or type(paragraph[0]) is not str or not _are_texts(paragraph[1]):
            raise row.error(f"'context[{index}]' must be [title, [sentences]]")
        title, sentences = paragraph
        text = _joined(sentences)
        if text:
            context.add(title, pool.add(title, text), len(sentences))
        else:
            context.empty += 1
    return context


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(member, str) for member in value)


def _joined(sentences: list[str]) -> str:
    """One text. HotpotQA's sentences bring the space before them along, those of 2WikiMultihopQA do not."""
    text = ""
    for sentence in sentences:
        text += sentence if not text or sentence[:1].isspace() else f" {sentence}"
    return text.strip()


def _plain(title: str) -> str:
    return " ".join(unicodedata.normalize("NFC", html.unescape(title)).casefold().split())
