"""Load RAGRouter-Bench from the hub or from a folder.

After `ragrouter:` stands a config or a folder and then, after another colon, a MuSiQue file if there is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from arena.datasets.hub import MUSIQUE, HubFile, fetch
from arena.datasets.musique import load_musique
from arena.datasets.ragrouter.columns import CorpusLookup, Originals, read_asked, read_corpus
from arena.datasets.ragrouter.editions import (
    CORPUS,
    EDITIONS,
    QUESTIONS,
    REPOSITORY,
    Edition,
    check_sizes,
    edition_named,
)
from arena.datasets.ragrouter.questions import EvidenceNotes, evidence_notes, put_together
from arena.datasets.records import fingerprint, read_records
from arena.errors import DatasetError
from arena.types import Dataset, Gold, Question

FROM_HUB = "hub"
"""In place of a MuSiQue file: the pinned copy on the hub."""


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
        return RagRouterSource(EDITIONS[0])
    colons = [at for at, character in enumerate(argument) if character == ":"]
    for end in (len(argument), *colons):
        source = _source(argument[:end])
        if source is not None:
            return _checked(RagRouterSource(source, argument[end + 1 :] or None), argument)
    if "/" in argument or "\\" in argument:
        raise DatasetError(f"ragrouter:{argument}: no such folder; check the path (relative to {Path.cwd()})")
    known = ", ".join(edition.alias for edition in EDITIONS)
    raise DatasetError(f"ragrouter:{argument}: neither a config ({known}) nor a folder here; write one of these")


def _source(text: str) -> Edition | Path | None:
    if not text:
        return None
    folder = Path(text).expanduser()
    return folder if folder.is_dir() else edition_named(text)


def _checked(request: RagRouterSource, argument: str) -> RagRouterSource:
    if isinstance(request.source, Edition) and not request.source.from_musique and request.musique:
        raise DatasetError(
            f"ragrouter:{argument}: a MuSiQue file belongs to the config musique only; "
            f"write ragrouter:{request.source.alias}"
        )
    return request


BY_HAND = (
    f"Without a network, place {CORPUS} and {QUESTIONS} of one config by hand, from "
    f"https://huggingface.co/datasets/{REPOSITORY}/tree/main, into a folder, for the config musique {MUSIQUE.path} "
    f"({MUSIQUE.page}) beside them, and write --dataset ragrouter:FOLDER"
)


@dataclass(frozen=True, slots=True)
class _Files:
    """What to read. `musique` None: there is no file with MuSiQue's records."""

    corpus: Path
    questions: Path
    musique: Path | None
    notes: tuple[str, ...]


def load_ragrouter(argument: str | None, root: Path) -> Dataset:
    """The config or folder that `argument` names; `root` holds the files of the hub.

    Raises:
        DatasetError: the argument names neither, or as `load_request`.
    """
    return load_request(read_request(argument), root)


def load_request(request: RagRouterSource, root: Path, *, endpoint: str | None = None) -> Dataset:
    """The dataset of `request`; `endpoint` is as for `fetch`.

    Raises:
        DatasetError: a file cannot be had, a row is malformed, an id is used twice or names no document, or the sizes
            are not those of the config.
    """
    files = _files(request, root, endpoint)
    corpus = read_corpus(files.corpus)
    originals = Originals(load_musique(files.musique)) if files.musique else None
    questions, gold, ledger = _read_questions(files.questions, corpus, originals)
    size_note = check_sizes(request.source, len(corpus.documents), questions)
    notes = (
        *files.notes,
        *([size_note] if size_note else []),
        *evidence_notes(ledger, len(questions), files.musique.name if files.musique else None),
    )
    identity = fingerprint(corpus.documents, questions, gold)
    name = request.source.alias if isinstance(request.source, Edition) else str(request.source)
    return Dataset(f"ragrouter:{name}", corpus.documents, questions, gold, identity, notes)


def _read_questions(
    path: Path, corpus: CorpusLookup, originals: Originals | None
) -> tuple[tuple[Question, ...], dict[str, Gold], EvidenceNotes]:
    questions, gold, places, ledger = dict[str, Question](), dict[str, Gold](), dict[str, str](), EvidenceNotes()
    for row in read_records(path):
        asked = read_asked(row)
        if asked.question_id in places:
            raise row.error(f"question id {asked.question_id!r} was already used at {places[asked.question_id]}")
        places[asked.question_id] = row.place
        questions[asked.question_id], gold[asked.question_id] = put_together(asked, corpus, originals, ledger)
    if not questions:
        raise DatasetError(f"{path} holds no questions; expected RAGRouter-Bench's, one object per question")
    return tuple(questions.values()), gold, ledger


def _files(request: RagRouterSource, root: Path, endpoint: str | None) -> _Files:
    def from_hub(file: HubFile) -> Path:
        return fetch(file, root, BY_HAND, endpoint=endpoint)

    if isinstance(request.source, Edition):
        corpus, questions = request.source.files
        wanted = request.musique or (FROM_HUB if request.source.from_musique else None)
        notes = [corpus.note, questions.note]
        places = from_hub(corpus), from_hub(questions)
    else:
        places = request.source / CORPUS, request.source / QUESTIONS
        beside = request.source / MUSIQUE.path
        wanted = request.musique or (str(beside) if beside.is_file() else None)
        notes = []
        for place in places:
            if not place.is_file():
                raise DatasetError(f"{place}: no such file; a folder of RAGRouter-Bench holds {CORPUS} and {QUESTIONS}")
    if wanted == FROM_HUB:
        return _Files(*places, from_hub(MUSIQUE), (*notes, MUSIQUE.note))
    return _Files(*places, Path(wanted).expanduser() if wanted else None, tuple(notes))
