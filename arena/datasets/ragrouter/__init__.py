"""RAGRouter-Bench: documents and questions of four domains, a third of them made by a model; from the hub or a folder.

Wang, Zhu, Lin, Xue, Guo and Zhang, "RAGRouter-Bench: A Dataset and Benchmark for Adaptive RAG Routing",
arXiv:2602.00296, 2026. The config musique holds the 2,417 development questions of MuSiQue over their 21,100
paragraphs, and 939 questions made for it.

After `ragrouter:` stands a config or a folder and then, after another colon, a MuSiQue file if there is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from arena.datasets.hub import FROM_HUB, HubFile, fetch, mirror_of
from arena.datasets.musique import load_musique
from arena.datasets.ragrouter.rows import (
    CORPUS,
    EvidenceNotes,
    Originals,
    evidence_notes,
    put_together,
    read_asked,
    read_corpus,
)
from arena.datasets.records import make_dataset, read_questions
from arena.errors import DatasetError
from arena.files import read_yaml_file
from arena.types import Dataset, Kind, Question

REPOSITORY = "Chaplain0908/RAGRouter"
QUESTIONS = "Question.json"
BRANCH = "main"
"""Not a commit: none could be verified. What pins the files is their SHA-256."""

_VOUCHED = "published by one project that used the files on 2026-09-22, not checked by this one"


@dataclass(frozen=True, slots=True)
class Edition:
    """One config. `name`: its folder on the hub; `alias`: how it may be written here. `files`: corpus and questions.

    `from_musique`: most of its questions are MuSiQue's, whose file knows their evidence.
    """

    name: str
    alias: str
    n_documents: int
    kinds: Mapping[Kind, int]
    files: tuple[HubFile, HubFile]
    from_musique: bool = False


@cache
def editions() -> tuple[Edition, ...]:
    """The four configs, musique first; editions.yaml, read once, holds their figures."""
    said = read_yaml_file(Path(__file__).with_name("editions.yaml"), "configs of RAGRouter-Bench")
    return tuple(_edition(name, **figures) for name, figures in said.items())


def _edition(name: str, corpus: Mapping[str, Any], questions: Mapping[str, Any], **figures: Any) -> Edition:
    pins = {CORPUS: corpus, QUESTIONS: questions}
    files = [HubFile(REPOSITORY, f"{name}/{file}", BRANCH, _VOUCHED, **pin) for file, pin in pins.items()]
    return Edition(name, files=(files[0], files[1]), **figures)


def edition_named(name: str) -> Edition | None:
    """The config of this name or alias."""
    return next((edition for edition in editions() if name in (edition.name, edition.alias)), None)


def check_sizes(source: Edition | Path, n_documents: int, questions: Sequence[Question]) -> str | None:
    """None where the sizes are those of a config; a note about a folder of another size.

    Raises:
        DatasetError: `source` is a config, or a folder that bears a config's full name, and its sizes differ.
    """
    kinds: dict[Kind, int] = dict(Counter(question.kind for question in questions))
    if isinstance(source, Edition):
        named: Edition | None = source
    else:
        named = next((edition for edition in editions() if edition.name == source.resolve().name), None)
    candidates = (named,) if named else editions()
    if any((one.n_documents, one.kinds) == (n_documents, kinds) for one in candidates):
        return None
    found = _sizes(n_documents, kinds)
    expected = "; ".join(f"{one.name} has {_sizes(one.n_documents, one.kinds)}" for one in candidates)
    if named is None:
        return f"No whole config of the benchmark, so its published figures do not apply: {found} here; {expected}."
    where = f"folder {source} bears the name of a config" if isinstance(source, Path) else f"config {named.name!r}"
    advice = "; rename the folder if this is a part of it" if isinstance(source, Path) else ""
    raise DatasetError(f"{where}, but the sizes differ: {found} here; {expected}{advice}")


def _sizes(n_documents: int, kinds: Mapping[Kind, int]) -> str:
    parts = ", ".join(f"{kind}: {count:,}" for kind, count in sorted(kinds.items()))
    return f"documents: {n_documents:,}, questions: {sum(kinds.values()):,} ({parts})"


@dataclass(frozen=True, slots=True)
class RagRouterSource:
    """`source`: a config to be fetched or a folder that holds its files.

    `musique`: the file that knows the evidence of the original questions, `hub`, or None for what is usual: a file
    of the official name in the folder, the hub for the config of that name.
    """

    source: Edition | Path
    musique: str | None = None


def read_request(argument: str | None) -> RagRouterSource:
    """What `argument` asks for; None is the config musique.

    A folder that exists is a folder, even if it bears the name of a config. The source ends at the first colon before
    which a config or a folder stands, so both paths may hold colons.

    Raises:
        DatasetError: neither a config nor a folder, or a MuSiQue file for a config that needs none.
    """
    if argument is None:
        return RagRouterSource(editions()[0])
    # The whole first: a folder whose name holds a colon is one, whatever its part before the colon would be.
    colons = [at for at, character in enumerate(argument) if character == ":"]
    for end in (len(argument), *colons):
        source, musique = _source(argument[:end]), argument[end + 1 :] or None
        if isinstance(source, Edition) and musique and not source.from_musique:
            raise DatasetError(
                f"ragrouter:{argument}: a MuSiQue file belongs to the config musique only; "
                f"write ragrouter:{source.alias}"
            )
        if source is not None:
            return RagRouterSource(source, musique)
    if "/" in argument or "\\" in argument:
        raise DatasetError(f"ragrouter:{argument}: no such folder; check the path (relative to {Path.cwd()})")
    known = ", ".join(edition.alias for edition in editions())
    raise DatasetError(f"ragrouter:{argument}: neither a config ({known}) nor a folder here; write one of these")


def _source(text: str) -> Edition | Path | None:
    if not text:
        return None
    folder = Path(text).expanduser()
    return folder if folder.is_dir() else edition_named(text)


@dataclass(frozen=True, slots=True)
class _Files:
    """What to read. `musique` None: there is no file with MuSiQue's records."""

    corpus: Path
    questions: Path
    musique: Path | None
    notes: tuple[str, ...]


def load_request(request: RagRouterSource, root: Path, *, endpoint: str | None = None) -> Dataset:
    """The dataset of `request`; `endpoint` is as for `fetch`.

    Raises:
        DatasetError: a file cannot be had, a row is malformed, an id is used twice or names no document, or the sizes
            are not those of the config.
    """
    files = _files(request, root, endpoint)
    corpus = read_corpus(files.corpus)
    originals = Originals(load_musique(files.musique)) if files.musique else None
    ledger = EvidenceNotes()
    questions, gold = read_questions(
        files.questions,
        lambda row: put_together(read_asked(row), corpus, originals, ledger),
        "question id",
        " holds no questions; expected RAGRouter-Bench's, one object per question",
    )
    size_note = check_sizes(request.source, len(corpus.documents), questions)
    notes = (
        *files.notes,
        *([size_note] if size_note else []),
        *evidence_notes(ledger, len(questions), files.musique.name if files.musique else None),
    )
    name = request.source.alias if isinstance(request.source, Edition) else str(request.source)
    return make_dataset(f"ragrouter:{name}", corpus.documents, questions, gold, notes)


def _files(request: RagRouterSource, root: Path, endpoint: str | None) -> _Files:
    original = mirror_of("musique")
    by_hand = (
        f"Without a network, place {CORPUS} and {QUESTIONS} of one config by hand, from "
        f"https://huggingface.co/datasets/{REPOSITORY}/tree/main, into a folder, for the config musique "
        f"{original.path} ({original.page}) beside them, and write --dataset ragrouter:FOLDER"
    )

    def from_hub(file: HubFile) -> Path:
        return fetch(file, root, by_hand, endpoint=endpoint)

    if isinstance(request.source, Edition):
        corpus, questions = request.source.files
        wanted = request.musique or (FROM_HUB if request.source.from_musique else None)
        notes = [corpus.note, questions.note]
        places = from_hub(corpus), from_hub(questions)
    else:
        places = request.source / CORPUS, request.source / QUESTIONS
        beside = request.source / original.path
        wanted = request.musique or (str(beside) if beside.is_file() else None)
        notes = []
        for place in places:
            if not place.is_file():
                raise DatasetError(f"{place}: no such file; a folder of RAGRouter-Bench holds {CORPUS} and {QUESTIONS}")
    if wanted == FROM_HUB:
        return _Files(*places, from_hub(original), (*notes, original.note))
    return _Files(*places, Path(wanted).expanduser() if wanted else None, tuple(notes))
