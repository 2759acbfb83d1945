"""The user's own data: a folder with corpus.jsonl and questions.jsonl, read and written.

corpus.jsonl: `doc_id`, `text`, optional `title`; every other field is metadata, and so are the members of an object
called `metadata`. questions.jsonl: `question_id`, `question`, `answers` (main answer first), `supporting_ids`, optional
`kind`, `hops`, `hop_shape`, `hop_order`, `claims` (`text`, `supporting_ids`), `split`, `sentences` (`doc_id`, `start`,
`end`: those of the supporting documents that carry the evidence, in characters). Without a `kind`, a question is
unanswerable if it has no answers, multi_hop if it has more than one supporting document, else single_hop. Either file
may be packed, or a Parquet table: corpus.jsonl.gz, questions.parquet.

A folder that is written appears complete or not at all.
"""

from __future__ import annotations

import filecmp
import json
import reprlib
import tempfile
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from arena.datasets.records import MOST_HOPS, FileRow, make_dataset, read_questions, read_records
from arena.errors import DatasetError, UnknownNameError, nearest
from arena.types import KINDS, Claim, Dataset, Document, Gold, GoldSentence, Kind, Question, Scalar


def place_folder(target: Path, fill: Callable[[Path], None]) -> None:
    """Let `fill` write plain files into a new folder beside `target`, then rename it to `target`.

    Parent folders are made. A `target` that already holds exactly those files is left alone, so the same
    command can be repeated; an interrupted one leaves no `target`.

    Raises:
        DatasetError: `target` is a file, holds anything else, or the disk refuses.
    """
    try:
        if target.exists() and not target.is_dir():
            raise DatasetError(f"{target} is a file; name a new folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as scratch:
            made = Path(scratch) / "made"
            made.mkdir()
            fill(made)
            if target.exists() and any(target.iterdir()):
                if not _same_files(made, target):
                    raise DatasetError(f"{target} is not empty and holds something else; name a new folder")
                return
            if target.exists():
                target.rmdir()  # Windows renames onto no folder, not even an empty one
            made.rename(target)
    except OSError as error:
        raise DatasetError(f"{target} cannot be written: {error.strerror or error}") from error


def _same_files(made: Path, target: Path) -> bool:
    names = sorted(path.name for path in made.iterdir())
    same_names = names == sorted(path.name for path in target.iterdir())
    return same_names and filecmp.cmpfiles(made, target, names, shallow=False)[0] == names


CORPUS = "corpus.jsonl"
QUESTIONS = "questions.jsonl"
_OPTIONAL = ("kind", "hops", "hop_shape", "hop_order", "claims", "sentences", "split")


def load_jsonl(folder: Path) -> Dataset:
    """The dataset in `folder`, documents and questions in file order.

    Raises:
        DatasetError: a file is missing, empty or malformed, an id is used twice, a supporting id is not in
            the corpus, or kind and answers contradict each other.
    """
    documents = _read_corpus(_file(folder, CORPUS))
    questions, gold = _read_questions(_file(folder, QUESTIONS), documents)
    return make_dataset(f"jsonl:{folder}", documents.values(), questions, gold)


def load_jsonl_corpus(folder: Path) -> Dataset:
    """The documents in `folder`, and no questions: questions.jsonl is not looked at. Raises as `load_jsonl` does."""
    return make_dataset(f"jsonl:{folder}", _read_corpus(_file(folder, CORPUS)).values(), (), {})


def write_jsonl(dataset: Dataset, folder: Path) -> None:
    """Write `dataset` so that `load_jsonl(folder)` gives the same documents, questions, gold and fingerprint.

    Equal datasets give equal bytes. The folder appears complete or not at all; one that already holds exactly
    this is left alone. Notes are not written.

    Raises:
        DatasetError: `folder` holds something else, or cannot be written.
    """

    def fill(target: Path) -> None:
        _write_lines(target / CORPUS, map(_document_fields, dataset.documents))
        _write_lines(
            target / QUESTIONS, (_question_fields(one, dataset.gold[one.question_id]) for one in dataset.questions)
        )

    place_folder(folder, fill)


def _file(folder: Path, usual: str) -> Path:
    """The file of that name in `folder`, or the only one beside it that differs in its ending, as a packed one does."""
    if folder.is_file():
        raise DatasetError(f"{folder} is a file; name the folder that holds {usual}")
    if (folder / usual).exists():
        return folder / usual
    alike = sorted(folder.glob(f"{Path(usual).stem}.*"))
    if len(alike) > 1:
        raise DatasetError(f"{folder} holds {', '.join(path.name for path in alike)}: keep one, or name it {usual}")
    return alike[0] if alike else folder / usual


def _read_corpus(path: Path) -> dict[str, Document]:
    documents: dict[str, Document] = {}
    places: dict[str, str] = {}
    for row in read_records(path):
        doc_id = row.identifier("doc_id")
        row.enter("doc_id", doc_id, places)
        title, text = row.optional("title", str) or "", row.require("text", str)
        documents[doc_id] = Document(doc_id, title, text, _metadata(row))
    if not documents:
        raise DatasetError(f"{path}: the corpus is empty; write one document per line")
    return documents


def _read_questions(path: Path, documents: Mapping[str, Document]) -> tuple[list[Question], dict[str, Gold]]:
    def read(row: FileRow) -> tuple[Question, Gold]:
        gold = _gold(row, row.identifier("question_id"), documents)
        return _question(row, gold), gold

    return read_questions(path, read, "question_id", ": there are no questions; write one question per line")


def _metadata(row: FileRow) -> dict[str, Scalar]:
    nested = row.optional("metadata", dict) or {}
    free = {name: value for name, value in row.fields.items() if name not in ("doc_id", "title", "text", "metadata")}
    for name in nested.keys() & free.keys():
        raise row.error(f"field {name!r} stands both beside and inside 'metadata'; keep one")
    for name, value in (free | nested).items():
        if isinstance(value, list | dict):
            raise row.error(f"metadata {name!r} must be a single value, not {reprlib.repr(value)}")
    return free | nested


def _gold(row: FileRow, question_id: str, documents: Mapping[str, Document]) -> Gold:
    answers = row.items("answers", str)
    if not all(answer.strip() for answer in answers):
        raise row.error("one of 'answers' is blank; leave it out")
    supporting_ids = row.items("supporting_ids", str)
    claims = _claims(row)
    hop_order = row.items("hop_order", str) if row.optional("hop_order", list) is not None else None
    _check_ids(row, "supporting_ids", supporting_ids, documents, CORPUS)
    _check_ids(row, "claims", (doc_id for claim in claims for doc_id in claim.supporting_ids), documents, CORPUS)
    _check_ids(row, "hop_order", hop_order or (), supporting_ids, "'supporting_ids'")
    kind = _kind(row, answers, supporting_ids)
    if kind != "unanswerable" and not answers:
        raise row.error(f"'answers' is empty, yet kind is {kind!r}; give an answer or make the kind 'unanswerable'")
    sentences = _sentences(row, supporting_ids, documents)
    return Gold(question_id, answers, supporting_ids, hop_order, kind != "unanswerable", claims, sentences=sentences)


def _question(row: FileRow, gold: Gold) -> Question:
    for name in row.fields:
        near = nearest(name, _OPTIONAL, likeness=0.8)
        if near and near not in row.fields:
            raise row.error(f"unknown field {name!r}: did you mean {near!r}?")
    return Question(
        question_id=gold.question_id,
        text=row.identifier("question"),
        kind=_kind(row, gold.answers, gold.supporting_ids),
        hops=row.count("hops", MOST_HOPS),
        hop_shape=row.optional("hop_shape", str),
        split=row.optional("split", str),
    )


def _kind(row: FileRow, answers: tuple[str, ...], supporting_ids: tuple[str, ...]) -> Kind:
    named = row.optional("kind", str)
    if named is None:
        if not answers:
            return "unanswerable"
        return "multi_hop" if len(set(supporting_ids)) > 1 else "single_hop"
    for kind in KINDS:
        if kind == named:
            return kind
    raise row.error(str(UnknownNameError("kind", named, KINDS)))


def _claims(row: FileRow) -> tuple[Claim, ...]:
    if row.optional("claims", list) is None:
        return ()
    return tuple(Claim(claim.identifier("text"), claim.items("supporting_ids", str)) for claim in row.objects("claims"))


def _sentences(
    row: FileRow, supporting_ids: tuple[str, ...], documents: Mapping[str, Document]
) -> tuple[GoldSentence, ...]:
    if row.optional("sentences", list) is None:
        return ()
    found = []
    for one in row.objects("sentences"):
        sentence = GoldSentence(one.identifier("doc_id"), one.require("start", int), one.require("end", int))
        _check_ids(row, "sentences", (sentence.doc_id,), supporting_ids, "'supporting_ids'")
        length = len(documents[sentence.doc_id].text)
        if not 0 <= sentence.start < sentence.end <= length:
            raise row.error(
                f"'sentences' holds {sentence.start} to {sentence.end} of {sentence.doc_id!r}, whose text has {length} "
                "characters"
            )
        found.append(sentence)
    return tuple(found)


def _check_ids(row: FileRow, name: str, ids: Iterable[str], known: Container[str], where: str) -> None:
    """Every one of `ids`, found in field `name`, is among `known`."""
    for doc_id in ids:
        if doc_id not in known:
            raise row.error(f"{name!r} holds {doc_id!r}, which is not in {where}")


def _write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for fields in lines:
            stream.write(json.dumps(fields, ensure_ascii=False, allow_nan=False) + "\n")


def _document_fields(document: Document) -> dict[str, Any]:
    fields = {"doc_id": document.doc_id, "title": document.title, "text": document.text}
    return fields | ({"metadata": dict(sorted(document.metadata.items()))} if document.metadata else {})


def _question_fields(question: Question, gold: Gold) -> dict[str, Any]:
    required = {
        "question_id": question.question_id,
        "question": question.text,
        "answers": gold.answers,
        "supporting_ids": gold.supporting_ids,
        "kind": question.kind,
    }
    optional = {
        "hops": question.hops,
        "hop_shape": question.hop_shape,
        "hop_order": gold.hop_order,
        "claims": [asdict(claim) for claim in gold.claims] or None,
        "sentences": [asdict(one) for one in gold.sentences] or None,
        "split": question.split,
    }
    return required | {name: value for name, value in optional.items() if value is not None}
