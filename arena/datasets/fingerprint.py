"""The identity of a dataset: one hash over everything that can change a score."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace

from arena.types import Dataset, Document, Gold, Question

_SENTENCES = "sentences"


def is_known_as(dataset: Dataset, name: object) -> bool:
    """Whether `name` is the fingerprint of `dataset`, or the one that it had before its sentence gold was kept."""
    if name == dataset.fingerprint:
        return True
    if not any(gold.sentences for gold in dataset.gold.values()):
        return False
    without = {question_id: replace(gold, sentences=()) for question_id, gold in dataset.gold.items()}
    return name == fingerprint(dataset.documents, dataset.questions, without)


def fingerprint(documents: Sequence[Document], questions: Sequence[Question], gold: Mapping[str, Gold]) -> str:
    """`ds_` and the first 16 hex digits of a SHA-256 over all records as canonical JSON lines.

    Every field counts, and so does the order of documents and questions. The order of `gold` and of the keys of a
    document's metadata does not; neither does a question's having no sentence gold, so that datasets without it have
    the identity that they had before it was kept. Records are streamed: memory stays at one record.
    """
    digest = hashlib.sha256()
    for section, records in (
        ("documents", documents),
        ("questions", questions),
        ("gold", [gold[key] for key in sorted(gold)]),
    ):
        digest.update(f"{section}\n".encode())
        for record in records:
            line = json.dumps(record, default=_as_object, sort_keys=True, separators=(",", ":"))
            digest.update(f"{line}\n".encode())
    return f"ds_{digest.hexdigest()[:16]}"


def _as_object(value: object) -> dict[str, object]:
    if is_dataclass(value):
        return {
            field.name: getattr(value, field.name)
            for field in fields(value)
            if "of_the_loader" not in field.metadata
            and not (field.name == _SENTENCES and not getattr(value, _SENTENCES))
        }
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"no canonical form for {value!r} of type {type(value).__name__}")
