"""MuSiQue from its official records, answerable or full setting, over a pooled corpus; and its prediction files.

Trivedi, Balasubramanian, Khot and Sabharwal, "MuSiQue: Multihop Questions via Single-hop Question Composition", TACL
2022.

Every question is asked over the paragraphs of all questions, which is harder than MuSiQue's own task of 20 paragraphs
each. In the full setting a question and its unanswerable twin share one id: the answerable one keeps it, the twin is
`ID#unanswerable`.

A prediction file has one line per record of the gold file, with `id`, `predicted_answer`, `predicted_support_idxs` and
`predicted_answerable`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.datasets.records import FileRow, Pool, make_dataset, read_records
from arena.errors import DatasetError
from arena.types import Dataset, Gold, Question
from arena.types.data import OfficialGold, OfficialPrediction

SHAPES: Mapping[str, int] = {"2hop": 2, "3hop1": 3, "3hop2": 3, "4hop1": 4, "4hop2": 4, "4hop3": 4}
"""Shape of the decomposition graph, as it stands before `__` in an official id -> number of hops."""

_TWIN = "#unanswerable"
_NOTE_POOLED = (
    "Questions are asked over the pooled paragraphs of all questions, not over their own 20: "
    "scores do not compare with those of MuSiQue's distractor setting."
)
_NOTE_TWINS = (
    "The pool brings back the paragraph that was withheld from an unanswerable twin: "
    "sufficiency of the evidence means nothing here, and twins carry no supporting documents."
)


@dataclass(frozen=True, slots=True)
class PooledMusique:
    """The dataset and the way back: `paragraph_ids[question_id][idx]` is the pooled document of a paragraph."""

    dataset: Dataset
    paragraph_ids: Mapping[str, Mapping[int, str]]


def official_id(question_id: str) -> str:
    """The id of a question in MuSiQue's own files, which twins share."""
    return question_id.removesuffix(_TWIN)


def load_musique(path: Path) -> Dataset:
    """The dataset in one official file; see `read_musique`."""
    return read_musique(path).dataset


def read_musique(path: Path) -> PooledMusique:
    """All records of one official file, in its order; documents in order of first appearance.

    Raises:
        DatasetError: the file cannot be read, has no records, or a record is malformed or repeated.
    """
    pool, questions, gold = Pool(), dict[str, Question](), dict[str, Gold]()
    paragraph_ids: dict[str, Mapping[int, str]] = {}
    for row in read_records(path):
        question = _question(row)
        if question.question_id in questions:
            state = "unanswerable" if question.kind == "unanswerable" else "answerable"
            raise row.error(f"a second {state} record with id {official_id(question.question_id)!r}")
        questions[question.question_id] = question
        paragraph_ids[question.question_id] = _pooled(row, pool)
        gold[question.question_id] = _gold(row, question, paragraph_ids[question.question_id])
    if not questions:
        raise DatasetError(f"{path} holds no records; expected one MuSiQue record per line")
    notes = _notes(questions.values())
    return PooledMusique(
        make_dataset(f"musique:{path}", pool.documents, questions.values(), gold, notes), paragraph_ids
    )


def _question(row: FileRow) -> Question:
    shape = row.identifier("id").partition("__")[0]
    answerable = row.optional("answerable", bool) is not False
    return Question(
        question_id=row.identifier("id") + ("" if answerable else _TWIN),
        text=row.identifier("question"),
        kind="multi_hop" if answerable else "unanswerable",
        hops=SHAPES.get(shape),
        hop_shape=shape if shape in SHAPES else None,
    )


def _pooled(row: FileRow, pool: Pool) -> dict[int, str]:
    """Paragraph `idx` of this record -> pooled document."""
    ids: dict[int, str] = {}
    for paragraph in row.objects("paragraphs"):
        idx = paragraph.require("idx", int)
        if idx in ids:
            raise paragraph.error(f"idx {idx} was already used in this record")
        ids[idx] = pool.add(paragraph.require("title", str), paragraph.require("paragraph_text", str))
    return ids


def _gold(row: FileRow, question: Question, ids: Mapping[int, str]) -> Gold:
    if question.kind == "unanswerable":
        return Gold(question.question_id, answers=(), supporting_ids=(), answerable=False)
    labels = _official_gold(row)
    answers = tuple(dict.fromkeys((row.identifier("answer"), *labels.answers)))
    if not labels.support_idxs:
        raise row.error("no paragraph has 'is_supporting' true, yet the question is answerable")
    supporting_ids = tuple(dict.fromkeys(ids[idx] for idx in labels.support_idxs))
    return Gold(question.question_id, answers, supporting_ids, _hop_order(row, ids, supporting_ids), official=True)


def _hop_order(row: FileRow, ids: Mapping[int, str], supporting_ids: tuple[str, ...]) -> tuple[str, ...] | None:
    """The supporting documents, one per hop; None when the decomposition does not name exactly those."""
    if row.optional("question_decomposition", list) is None:
        return None
    order: list[str] = []
    for hop in row.objects("question_decomposition"):
        idx = hop.optional("paragraph_support_idx", int)
        if idx is None:
            return None
        if idx not in ids:
            raise hop.error(f"'paragraph_support_idx' is {idx}, but no paragraph of the record has that idx")
        order.append(ids[idx])
    return tuple(order) if set(order) == set(supporting_ids) else None


def _notes(questions: Collection[Question]) -> tuple[str, ...]:
    notes = [_NOTE_POOLED]
    if any(question.kind == "unanswerable" for question in questions):
        notes.append(_NOTE_TWINS)
    unknown = sum(question.hops is None for question in questions)
    if unknown:
        notes.append(f"{unknown} ids do not start with one of {', '.join(SHAPES)}: their hops are unknown.")
    return tuple(notes)


def read_official_gold(path: Path) -> tuple[OfficialGold, ...]:
    """The labels of one official file, in its order.

    Raises:
        DatasetError: the file cannot be read, has no answerable record, or is of the full setting and lacks a twin; a
            record is malformed or repeated.
    """
    places: dict[tuple[str, bool], str] = {}
    gold: list[OfficialGold] = []
    for row in read_records(path):
        record = _official_gold(row)
        key = (record.question_id, record.answerable)
        if key in places:
            state = "answerable" if record.answerable else "unanswerable"
            raise row.error(f"a second {state} record with id {record.question_id!r}; the first is at {places[key]}")
        places[key] = row.place
        gold.append(record)
    if not any(record.answerable for record in gold):
        raise DatasetError(
            f"{path} holds no answerable record; expected MuSiQue's train or dev file, one record per line"
        )
    if not all(record.answerable for record in gold):
        _require_twins(places)
    return tuple(gold)


def read_predictions(path: Path, gold: Sequence[OfficialGold]) -> tuple[OfficialPrediction, ...]:
    """One prediction per record of `gold`, in the order of `gold`, whatever the order of ids in the file.

    Of the two predictions for twins the first belongs to the twin that comes first in the gold.

    Raises:
        DatasetError: the file cannot be read; a line is malformed, for an id not in the gold, or one too many for
            its id; a record has no prediction.
    """
    wanted = Counter(record.question_id for record in gold)
    found: dict[str, list[OfficialPrediction]] = {question_id: [] for question_id in wanted}
    last: dict[str, str] = {}
    for row in read_records(path):
        prediction = _prediction(row)
        question_id = prediction.question_id
        if question_id not in found:
            raise row.error(f"id {question_id!r} is not among the {len(gold)} records of the gold file")
        if len(found[question_id]) == wanted[question_id]:
            raise row.error(
                f"prediction {wanted[question_id] + 1} for id {question_id!r}, of which the gold has "
                f"{wanted[question_id]}; the last was at {last[question_id]}"
            )
        found[question_id].append(prediction)
        last[question_id] = row.place
    # Twins share an id and are told apart by their order alone: each takes the next prediction for it.
    queues = {question_id: iter(predictions) for question_id, predictions in found.items()}
    ordered = [(record, next(queues[record.question_id], None)) for record in gold]
    absent = [record.question_id for record, prediction in ordered if prediction is None]
    if absent:
        raise DatasetError(
            f"{path}: no prediction for {len(absent)} of {len(gold)} records, the first of which has id {absent[0]!r}; "
            "every record needs one line, and an id that stands twice in the gold needs two"
        )
    return tuple(prediction for _, prediction in ordered if prediction)


def _require_twins(places: dict[tuple[str, bool], str]) -> None:
    for (question_id, answerable), place in places.items():
        if (question_id, not answerable) not in places:
            raise DatasetError(
                f"{place}: id {question_id!r} has no {'unanswerable' if answerable else 'answerable'} twin; "
                "in the full setting every id has two records"
            )


def _official_gold(row: FileRow) -> OfficialGold:
    question_id = row.identifier("id")
    if row.optional("answerable", bool) is False:
        return OfficialGold(question_id, (), (), answerable=False)
    if "answer" not in row.fields:
        raise row.error("no field 'answer'; MuSiQue's test files hide their labels: use the train or dev file")
    aliases = row.items("answer_aliases", str) if row.optional("answer_aliases", list) else ()
    supporting = tuple(
        paragraph.require("idx", int)
        for paragraph in row.objects("paragraphs")
        if paragraph.require("is_supporting", bool)
    )
    return OfficialGold(question_id, (row.require("answer", str), *aliases), supporting, answerable=True)


def _prediction(row: FileRow) -> OfficialPrediction:
    return OfficialPrediction(
        question_id=row.identifier("id"),
        answer=row.require("predicted_answer", str),
        support_idxs=row.items("predicted_support_idxs", int),
        answerable=row.require("predicted_answerable", bool),
    )
