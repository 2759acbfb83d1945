"""MuSiQue's official prediction and label files.

A prediction file has one line per record of the gold file, with `id`, `predicted_answer`, `predicted_support_idxs` and
`predicted_answerable`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from arena.datasets.lines import Row
from arena.datasets.records import read_records
from arena.errors import DatasetError
from arena.types.data import OfficialGold, OfficialPrediction


def read_official_gold(path: Path) -> tuple[OfficialGold, ...]:
    """The labels of one official file, in its order.

    Raises:
        DatasetError: the file cannot be read, has no answerable record, or is of the full setting and lacks a twin; a
            record is malformed or repeated.
    """
    places: dict[tuple[str, bool], str] = {}
    gold: list[OfficialGold] = []
    for row in read_records(path):
        record = _gold(row)
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
    places: dict[str, list[int]] = {}
    for place, record in enumerate(gold):
        places.setdefault(record.question_id, []).append(place)
    read: dict[str, list[str]] = {}
    found: dict[int, OfficialPrediction] = {}
    for row in read_records(path):
        prediction = _prediction(row)
        question_id = prediction.question_id
        if question_id not in places:
            raise row.error(f"id {question_id!r} is not among the {len(gold)} records of the gold file")
        earlier = read.setdefault(question_id, [])
        if len(earlier) == len(places[question_id]):
            raise row.error(
                f"prediction {len(earlier) + 1} for id {question_id!r}, of which the gold has {len(earlier)}; "
                f"the last was at {earlier[-1]}"
            )
        found[places[question_id][len(earlier)]] = prediction
        earlier.append(row.place)
    _require_all(path, found, gold)
    return tuple(found[place] for place in range(len(gold)))


def _require_all(path: Path, found: dict[int, OfficialPrediction], gold: Sequence[OfficialGold]) -> None:
    absent = [record.question_id for place, record in enumerate(gold) if place not in found]
    if absent:
        raise DatasetError(
            f"{path}: no prediction for {len(absent)} of {len(gold)} records, the first of which has id {absent[0]!r}; "
            "every record needs one line, and an id that stands twice in the gold needs two"
        )


def _require_twins(places: dict[tuple[str, bool], str]) -> None:
    for (question_id, answerable), place in places.items():
        if (question_id, not answerable) not in places:
            raise DatasetError(
                f"{place}: id {question_id!r} has no {'unanswerable' if answerable else 'answerable'} twin; "
                "in the full setting every id has two records"
            )


def _gold(row: Row) -> OfficialGold:
    question_id = row.identifier("id")
    if row.optional("answerable", bool) is False:
        return OfficialGold(question_id, (), (), answerable=False)
    if "answer" not in row.fields:
        raise row.error("no field 'answer'; MuSiQue's test files hide their labels: use the train or dev file")
    aliases = row.items("answer_aliases", str) if row.optional("answer_aliases", list) is not None else ()
    supporting = tuple(
        paragraph.require("idx", int)
        for paragraph in row.objects("paragraphs")
        if paragraph.require("is_supporting", bool)
    )
    return OfficialGold(question_id, (row.require("answer", str), *aliases), supporting, answerable=True)


def _prediction(row: Row) -> OfficialPrediction:
    return OfficialPrediction(
        question_id=row.identifier("id"),
        answer=row.require("predicted_answer", str),
        support_idxs=row.items("predicted_support_idxs", int),
        answerable=row.require("predicted_answerable", bool),
    )
