"""Read records of data files (a JSON array, JSON lines or a Parquet table, packed or not), and pool their paragraphs.

The content of a file decides its format, not its name. Every complaint names the file, the line and the field. JSON is
not read through the `datasets` library, whose tables give every column one type. With version 5.0.1, dates among the
answers come back as datetimes where all of them look like dates, the id "007" comes back as 7 beside ids that are
numbers, JSON lines fail with a cast error when a column of nulls holds lists after the first ten megabytes, and no
fault of a file is told with its line.

A dataset's fingerprint is one hash over everything in it that can change a score.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from arena.datasets.files import PARQUET, open_data
from arena.errors import DatasetError
from arena.files import DECODER, fault_of
from arena.identity import canonical_json, short_hash
from arena.types import Dataset, Document, Gold, Question

MOST_HOPS = 100
"""Facts on one reasoning path; a larger number is a mistake, and pages have a row for each."""

T = TypeVar("T", str, int, float, bool, list[Any], dict[str, Any])

_JSON_NAMES = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


@dataclass(frozen=True, slots=True)
class FileRow:
    """One JSON object of a file. `place` says where it stands: `FILE:LINE`, then the field it is nested in."""

    place: str
    fields: Mapping[str, Any]

    def error(self, problem: str) -> DatasetError:
        """`problem` with its place in front, to be raised by the caller."""
        return DatasetError(f"{self.place}: {problem}")

    def require(self, name: str, kind: type[T]) -> T:
        """The value of a field that must be there and be of `kind`."""
        if name not in self.fields:
            there = ", ".join(repr(field) for field in self.fields) or "none"
            raise self.error(f"no field {name!r}; fields there: {there}")
        return self._typed(name, self.fields[name], kind)

    def optional(self, name: str, kind: type[T]) -> T | None:
        """The value of a field of `kind`, None when it is absent or null."""
        value = self.fields.get(name)
        return None if value is None else self._typed(name, value, kind)

    def identifier(self, name: str) -> str:
        """A required string that is not blank."""
        value = self.require(name, str)
        if not value.strip():
            raise self.error(f"field {name!r} is blank; every record needs its own")
        return value

    def items(self, name: str, kind: type[T]) -> tuple[T, ...]:
        """A required list whose members are all of `kind`."""
        values: list[Any] = self.require(name, list)
        return tuple(self._typed(f"{name}[{index}]", value, kind) for index, value in enumerate(values))

    def count(self, name: str, most: int) -> int | None:
        """A whole number from 0 to `most`, None when it is absent or null."""
        value = self.optional(name, int)
        if value is not None and not 0 <= value <= most:
            raise self.error(f"field {name!r} must be from 0 to {most}, not {reprlib.repr(value)}")
        return value

    def enter(self, what: str, name: str, places: dict[str, str]) -> None:
        """Note in `places` (id -> where it is used) that this row uses an id, `what` by its kind; twice is refused."""
        if name in places:
            raise self.error(f"{what} {name!r} was already used at {places[name]}")
        places[name] = self.place

    def objects(self, name: str) -> tuple[FileRow, ...]:
        """A required list of objects, each a row that knows its place in this one."""
        members = self.items(name, dict)
        return tuple(FileRow(f"{self.place}, {name}[{index}]", member) for index, member in enumerate(members))

    def _typed(self, name: str, value: Any, kind: type[T]) -> T:
        if type(value) is not kind:  # not isinstance: True is an int in Python, not in JSON
            found = _JSON_NAMES.get(type(value), f"a {type(value).__name__}")  # a column of a table may hold more
            raise self.error(f"field {name!r} must be {_JSON_NAMES[kind]}, not {found}: {reprlib.repr(value)}")
        return value


def parse_lines(path: Path, stream: Iterable[bytes]) -> Iterator[FileRow]:
    """The objects of UTF-8 lines with one JSON object each, in order. Blank lines are skipped.

    Memory stays at one line. `path` is for messages.

    Raises:
        DatasetError: a line is not UTF-8, not JSON (NaN, lone surrogates, numbers that no double holds and keys given
            twice included) or not an object.
    """
    for number, raw in enumerate(stream, start=1):
        line = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
        if line.strip():
            yield _parse(f"{path}:{number}", line)


def as_row(place: str, value: Any, source: str, per: str = "line") -> FileRow:
    """`value`, parsed from the JSON text `source`, as a row; the file should hold one object `per` what.

    Raises:
        DatasetError: it is not an object, or holds half a surrogate pair.
    """
    if "\\ud" in source.lower():
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise DatasetError(f"{place}: half a surrogate pair (\\ud800 to \\udfff alone) is not text") from None
    if not isinstance(value, dict):
        raise DatasetError(
            f"{place}: {_JSON_NAMES[type(value)]}, not an object; the file needs one JSON object per {per}"
        )
    return FileRow(place, value)


def some(names: Sequence[str]) -> str:
    """The first three of them, quoted, and dots for the rest."""
    return ", ".join(repr(name) for name in names[:3]) + (", ..." if len(names) > 3 else "")


def read_questions(
    path: Path, read: Callable[[FileRow], tuple[Question, Gold]], id_name: str, if_empty: str
) -> tuple[list[Question], dict[str, Gold]]:
    """The questions of a file with their gold, in its order. `id_name`, `if_empty`: for what is said of a fault.

    Raises:
        DatasetError: as `read_records` and `read` do; an id is used twice; there is no question.
    """
    questions, gold, places = list[Question](), dict[str, Gold](), dict[str, str]()
    for row in read_records(path):
        question, gold_of_it = read(row)
        row.enter(id_name, question.question_id, places)
        questions.append(question)
        gold[question.question_id] = gold_of_it
    if not questions:
        raise DatasetError(f"{path}{if_empty}")
    return questions, gold


def _parse(place: str, raw: bytes) -> FileRow:
    try:
        line = raw.strip().decode()
        value = DECODER.decode(line)
    except UnicodeDecodeError as error:
        start = len(raw) - len(raw.lstrip()) + error.start
        byte = f"byte {start + 1} of the line (0x{raw[start]:02x})"
        raise DatasetError(f"{place}: {byte} is not UTF-8; save the file as UTF-8") from None
    except json.JSONDecodeError as error:
        problem = f"{error.msg} at column {error.colno + len(raw) - len(raw.lstrip())}"
        raise DatasetError(f"{place}: not JSON: {problem}; the file needs one JSON object per line") from None
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{place}: not JSON: {fault_of(error)}") from None
    return as_row(place, value, line)


_SPACE = " \t\n\r"


def read_records(path: Path) -> Iterator[FileRow]:
    """The objects of a file in its order; JSON is UTF-8.

    A row's place is `FILE:LINE`, in an array `FILE, record N`, in a table `FILE, row N`. Memory holds one line, the
    text of an array and one of its objects, or one batch of a table. A pipe can be read once.

    Raises:
        DatasetError: the file is missing, a folder, unreadable, or something else than data (the message says what);
            a record is not UTF-8, not JSON or not an object.
    """
    with open_data(path) as (head, stream):
        if head.startswith(PARQUET):
            yield from _table(path, stream)
        elif head.startswith(b"["):
            yield from _array(path, stream)
        else:
            yield from parse_lines(path, stream)


def _table(path: Path, stream: BinaryIO) -> Iterator[FileRow]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        # A file on disk is read batch by batch; what was unpacked or piped has no end to begin with.
        table = parquet.ParquetFile(path if stream.seekable() else pa.BufferReader(stream.read()))
        number = 0
        for batch in table.iter_batches(batch_size=1024):
            for fields in batch.to_pylist():
                number += 1
                yield FileRow(f"{path}, row {number}", {name: _plain(value) for name, value in fields.items()})
    except pa.ArrowException as error:
        raise DatasetError(f"{path} is a damaged Parquet file ({error}); fetch it again") from None


def _plain(value: Any) -> Any:
    """A cell as JSON would have it: a column of floats has NaN where it has no value."""
    return None if isinstance(value, float) and value != value else value


def _array(path: Path, stream: BinaryIO) -> Iterator[FileRow]:
    text = _text(path, stream)
    at, number = _after_space(text, text.index("[") + 1), 0
    if text.startswith("]", at):
        at += 1
    else:
        while True:
            number += 1
            place = f"{path}, record {number}"
            try:
                value, end = DECODER.raw_decode(text, at)
            except json.JSONDecodeError as error:
                raise DatasetError(f"{place}: not JSON: {error.msg} at {_line_and_column(text, error.pos)}") from None
            except (ValueError, RecursionError) as error:
                raise DatasetError(f"{place}: not JSON: {fault_of(error)}") from None
            yield as_row(place, value, text[at:end], per="record")
            at = _after_space(text, end)
            if not text.startswith((",", "]"), at):
                raise DatasetError(f"{place}: not JSON: expected ',' or ']' at {_line_and_column(text, at)}")
            at += 1
            if text[at - 1] == "]":
                break
            at = _after_space(text, at)
    if (end := _after_space(text, at)) < len(text):
        raise DatasetError(f"{path}: more text after the array, at {_line_and_column(text, end)}; keep one array")


def _text(path: Path, stream: BinaryIO) -> str:
    try:
        return stream.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        wrong = f"byte {error.start + 1} (0x{error.object[error.start]:02x})"
        raise DatasetError(f"{path}: {wrong} is not UTF-8; save the file as UTF-8") from None


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _line_and_column(text: str, at: int) -> str:
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"


class Pool:
    """Documents in the order they were first seen; equal (title, text) is one document.

    Titles repeat in MuSiQue, so pooling by title alone would lose gold. A `doc_id` depends on title and text
    only, not on the file or the order, and says nothing about either.
    """

    def __init__(self) -> None:
        self._documents: dict[str, Document] = {}

    def add(self, title: str, text: str) -> str:
        """The `doc_id` of this paragraph, which joins the pool unless it is there."""
        doc_id = "p" + short_hash(f"{title}\x1f{text}", 12)
        document = self._documents.setdefault(doc_id, Document(doc_id, title, text))
        if (document.title, document.text) != (title, text):
            raise DatasetError(f"two different paragraphs, {document.title!r} and {title!r}, share the id {doc_id!r}")
        return doc_id

    @property
    def documents(self) -> tuple[Document, ...]:
        return tuple(self._documents.values())


_SENTENCES = "sentences"


def is_known_as(dataset: Dataset, name: object) -> bool:
    """Whether `name` is the fingerprint of `dataset`, or the one that it had before its sentence gold was kept."""
    if name == dataset.fingerprint:
        return True
    if not any(gold.sentences for gold in dataset.gold.values()):
        return False
    without = {question_id: replace(gold, sentences=()) for question_id, gold in dataset.gold.items()}
    return name == fingerprint(dataset.documents, dataset.questions, without)


def make_dataset(
    name: str,
    documents: Iterable[Document],
    questions: Iterable[Question],
    gold: Mapping[str, Gold],
    notes: Iterable[str] = (),
) -> Dataset:
    """The dataset of these records, under their fingerprint."""
    documents, questions = tuple(documents), tuple(questions)
    return Dataset(name, documents, questions, gold, fingerprint(documents, questions, gold), tuple(notes))


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
        ("gold", [gold[key] for key in sorted(gold)]),  # stored fingerprints rest on this order and these names
    ):
        digest.update(f"{section}\n".encode())
        for record in records:
            line = canonical_json(record, ascii_only=True, compact=True, default=_as_object)
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
