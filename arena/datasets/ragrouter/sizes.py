"""Whether what was read has the size it should have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from arena.datasets.ragrouter.editions import EDITIONS, Edition, edition_named
from arena.errors import DatasetError
from arena.types import Kind, Question


def check_sizes(source: Edition | Path, n_documents: int, questions: Sequence[Question]) -> str | None:
    """None where the sizes are those of a config; a note about a folder of another size.

    Raises:
        DatasetError: `source` is a config, or a folder that bears a config's full name, and its sizes differ.
    """
    kinds = Counter(question.kind for question in questions)
    if any(_fits(edition, n_documents, kinds) for edition in _candidates(source)):
        return None
    found = _sizes(n_documents, len(questions), kinds)
    expected = "; ".join(
        f"{edition.name} has {_sizes(edition.n_documents, edition.n_questions, edition.kinds)}"
        for edition in _candidates(source)
    )
    if isinstance(source, Path) and _named(source) is None:
        return f"No whole config of the benchmark, so its published figures do not apply: {found} here; {expected}."
    where = f"folder {source} bears the name of a config" if isinstance(source, Path) else f"config {source.name!r}"
    advice = "; rename the folder if this is a part of it" if isinstance(source, Path) else ""
    raise DatasetError(f"{where}, but the sizes differ: {found} here; {expected}{advice}")


def _candidates(source: Edition | Path) -> tuple[Edition, ...]:
    if isinstance(source, Edition):
        return (source,)
    named = _named(source)
    return (named,) if named else EDITIONS


def _named(folder: Path) -> Edition | None:
    edition = edition_named(folder.resolve().name)
    return edition if edition and edition.name == folder.resolve().name else None


def _fits(edition: Edition, n_documents: int, kinds: Mapping[Kind, int]) -> bool:
    return edition.n_documents == n_documents and dict(edition.kinds) == dict(kinds)


def _sizes(n_documents: int, n_questions: int, kinds: Mapping[Kind, int]) -> str:
    parts = ", ".join(f"{kind}: {count:,}" for kind, count in sorted(kinds.items()))
    return f"documents: {n_documents:,}, questions: {n_questions:,} ({parts})"
