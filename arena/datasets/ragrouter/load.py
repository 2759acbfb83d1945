"""RAGRouter-Bench from the hub or from a folder, as a dataset."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from arena.datasets.fingerprint import fingerprint
from arena.datasets.hub import HubFile, fetch
from arena.datasets.mirrors import MUSIQUE
from arena.datasets.musique import load_musique
from arena.datasets.ragrouter.columns import read_asked
from arena.datasets.ragrouter.corpus import Corpus, read_corpus
from arena.datasets.ragrouter.editions import CORPUS, QUESTIONS, REPOSITORY, Edition
from arena.datasets.ragrouter.notes import evidence_notes
from arena.datasets.ragrouter.original import Originals
from arena.datasets.ragrouter.question import Ledger, put_together
from arena.datasets.ragrouter.request import FROM_HUB, Request, read_request
from arena.datasets.ragrouter.sizes import check_sizes
from arena.datasets.records import read_records
from arena.errors import DatasetError
from arena.types import Dataset, Gold, Question

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


def load_request(request: Request, root: Path, *, endpoint: str | None = None) -> Dataset:
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
    path: Path, corpus: Corpus, originals: Originals | None
) -> tuple[tuple[Question, ...], dict[str, Gold], Ledger]:
    questions, gold, places, ledger = dict[str, Question](), dict[str, Gold](), dict[str, str](), Ledger()
    for row in read_records(path):
        asked = read_asked(row)
        if asked.question_id in places:
            raise row.error(f"question id {asked.question_id!r} was already used at {places[asked.question_id]}")
        places[asked.question_id] = row.place
        questions[asked.question_id], gold[asked.question_id] = put_together(asked, corpus, originals, ledger)
    if not questions:
        raise DatasetError(f"{path} holds no questions; expected RAGRouter-Bench's, one object per question")
    return tuple(questions.values()), gold, ledger


def _files(request: Request, root: Path, endpoint: str | None) -> _Files:
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
