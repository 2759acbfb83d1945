"""The evidence that a question's own row names.

A member of `supporting_facts` is a document's id, or an object with the id (`doc_id`) or with the text of a passage.
The original questions of MuSiQue and of the medical config are reported to have no ids; what such members look like
is not known, so one that cannot be read is counted and never guessed at.
"""

from __future__ import annotations

from typing import Any

from arena.datasets.ragrouter.columns import DOCUMENT_ID, EVIDENCE, TEXT, Asked
from arena.datasets.ragrouter.corpus import Corpus
from arena.datasets.ragrouter.editions import CORPUS

_PASSAGE = (*TEXT, "paragraph_text")


def documents_of(asked: Asked, corpus: Corpus) -> tuple[str, ...] | None:
    """The documents named, in order, each once. None: a member cannot be read, so part of the evidence is unknown.

    Raises:
        DatasetError: an id is not in the corpus.
    """
    found: dict[str, None] = {}
    for index, fact in enumerate(asked.facts):
        doc_id = _document(asked, index, fact, corpus)
        if doc_id is None:
            return None
        found[doc_id] = None
    return tuple(found)


def _document(asked: Asked, index: int, fact: Any, corpus: Corpus) -> str | None:
    if isinstance(fact, dict):
        named = next((fact[name] for name in DOCUMENT_ID if fact.get(name) is not None), None)
        return _by_passage(fact, corpus) if named is None else _by_id(asked, index, named, corpus)
    if isinstance(fact, str) and fact not in corpus.ids and len(fact.split()) > 1:
        return corpus.find("", fact)
    return _by_id(asked, index, fact, corpus)


def _by_id(asked: Asked, index: int, named: Any, corpus: Corpus) -> str | None:
    if type(named) is not int and not isinstance(named, str):
        return None
    if str(named) not in corpus.ids:
        raise asked.row.error(
            f"question {asked.question_id!r}: '{EVIDENCE}[{index}]' names document {str(named)!r}, which is not in "
            f"{CORPUS}"
        )
    return str(named)


def _by_passage(fact: dict[str, Any], corpus: Corpus) -> str | None:
    text = next((fact[name] for name in _PASSAGE if isinstance(fact.get(name), str)), None)
    title = fact["title"] if isinstance(fact.get("title"), str) else ""
    return None if text is None else corpus.find(title, text)
