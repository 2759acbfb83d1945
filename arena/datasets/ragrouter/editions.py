"""The four configs of RAGRouter-Bench: their files on the hub, and a check that what was read has their size.

Questions by kind: Wang et al. 2026, statistics table; documents: README of the authors' code. They add up to the
paper's 7,727 questions and 21,460 documents. The README gives `quality` 1,200 questions, the paper 1,198.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.datasets.hub import HubFile
from arena.errors import DatasetError
from arena.types import Kind, Question

REPOSITORY = "Chaplain0908/RAGRouter"
CORPUS = "Corpus.json"
QUESTIONS = "Question.json"
BRANCH = "main"
"""Not a commit: none could be verified. What pins the files is their SHA-256."""

_VOUCHED = "published by one project that used the files on 2026-09-22, not checked by this one"


@dataclass(frozen=True, slots=True)
class Edition:
    """One config. `name`: its folder on the hub; `alias`: how it may be written here.

    `from_musique`: most of its questions are MuSiQue's, whose file knows their evidence.
    """

    name: str
    alias: str
    n_documents: int
    kinds: Mapping[Kind, int]
    files: tuple[HubFile, HubFile]
    """Corpus and questions."""
    from_musique: bool = False

    @property
    def n_questions(self) -> int:
        """Questions of all kinds."""
        return sum(self.kinds.values())


def _file(path: str, size_bytes: int, sha256: str) -> HubFile:
    return HubFile(REPOSITORY, path, BRANCH, _VOUCHED, sha256, size_bytes)


EDITIONS: tuple[Edition, ...] = (
    Edition(
        "musique",
        "musique",
        21_100,
        {"multi_hop": 2590, "single_hop": 398, "summary": 368},
        (
            _file(
                f"musique/{CORPUS}",
                11_320_817,
                "1ab56f734729dec791cee247b000b1bb3bf91d2da70b06e532a086ecb5567050",
            ),
            _file(
                f"musique/{QUESTIONS}",
                6_027_199,
                "1f67e046b7913a5df705be1873e352926f4bed2a334ccf2677b345992f7e98cd",
            ),
        ),
        from_musique=True,
    ),
    Edition(
        "quality",
        "quality",
        265,
        {"multi_hop": 461, "single_hop": 454, "summary": 283},
        (
            _file(
                f"quality/{CORPUS}",
                6_736_347,
                "43f33f01e974e22d299714ab0e876708fbc995acbaebb30f142dad49349cef6f",
            ),
            _file(
                f"quality/{QUESTIONS}",
                7_188_885,
                "917d3ca76fbb01e8b29d0220ded48fa64262be9322063983cbebd1267e873097",
            ),
        ),
    ),
    Edition(
        "ultraDomain_legal",
        "legal",
        94,
        {"multi_hop": 526, "single_hop": 370, "summary": 381},
        (
            _file(
                f"ultraDomain_legal/{CORPUS}",
                22_269_679,
                "61dd83d5634642983a53daa2a781c9ef415afe41362da7e1af29bf967582def5",
            ),
            _file(
                f"ultraDomain_legal/{QUESTIONS}",
                9_385_807,
                "6f57cbe02e4205d3f2e699e44b6810547410fe59857a51a58d453fd82830cfb7",
            ),
        ),
    ),
    Edition(
        "graphragBench_medical",
        "medical",
        1,
        {"multi_hop": 509, "single_hop": 1098, "summary": 289},
        (
            _file(
                f"graphragBench_medical/{CORPUS}",
                1_055_124,
                "66e792ddb429409e461f7491da1eafd9c297cf07306aeb5f6c9114bd317f9a81",
            ),
            _file(
                f"graphragBench_medical/{QUESTIONS}",
                1_053_136,
                "365fd51b9b15de84040657593e99b64021a6c362280fca4f734a957636269464",
            ),
        ),
    ),
)


def edition_named(name: str) -> Edition | None:
    """The config of this name or alias."""
    return next((edition for edition in EDITIONS if name in (edition.name, edition.alias)), None)


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
