"""What one reviewer said of one answer, once; the lines of review.jsonl."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from pydantic import TypeAdapter, ValidationError

from arena.errors import RunStoreError
from arena.plan import Key
from arena.store import REVIEW, RunStore, review_text
from experiments.reviewing.rubric import Mark


@dataclass(frozen=True, slots=True)
class Rating:
    """`marks`: criterion -> mark, of those that were judged. `repeat` counts a rater's ratings of an answer from 0."""

    row_id: str
    cell: str
    question_id: str
    rater: str
    repeat: int
    marks: Mapping[str, Mark] = field(default_factory=dict)
    note: str = ""

    @property
    def place(self) -> Key:
        return self.cell, self.question_id


_RATING = TypeAdapter(Rating)


def read_ratings(store: RunStore) -> list[Rating]:
    """The ratings that a run folder holds.

    Raises:
        RunStoreError: review.jsonl cannot be read, or a line of it is none.
    """
    return [
        _rating(store, number, line) for number, line in enumerate(review_text(store.folder).split("\n"), 1) if line
    ]


def rating_lines(ratings: Iterable[Rating]) -> str:
    """The text of review.jsonl: by cell, question, rater and repeat."""
    ordered = sorted(ratings, key=lambda one: (*one.place, one.rater, one.repeat))
    return "".join(json.dumps(asdict(one)) + "\n" for one in ordered)


@dataclass(frozen=True, slots=True)
class Merged:
    """Ratings of a run after an import. `added`, `replaced`, `unchanged`: answers, by rater, that the import rated."""

    ratings: tuple[Rating, ...]
    added: Mapping[str, int]
    replaced: Mapping[str, int]
    unchanged: Mapping[str, int]


def merge_ratings(before: Sequence[Rating], imported: Sequence[Rating]) -> Merged:
    """All that a rater says of an answer now stands in place of all that the same rater said of it before."""
    old, new = _by_rater(before), _by_rater(imported)
    counts: dict[str, dict[str, int]] = {"added": {}, "replaced": {}, "unchanged": {}}
    for (rater, row_id), ratings in new.items():
        known = old.get((rater, row_id))
        became = "added" if known is None else "unchanged" if known == ratings else "replaced"
        counts[became][rater] = counts[became].get(rater, 0) + 1
    kept = old | new
    return Merged(tuple(one for ratings in kept.values() for one in ratings), **counts)


def _by_rater(ratings: Iterable[Rating]) -> dict[tuple[str, str], list[Rating]]:
    grouped: dict[tuple[str, str], list[Rating]] = {}
    for one in ratings:
        grouped.setdefault((one.rater, one.row_id), []).append(one)
    return grouped


def _rating(store: RunStore, number: int, line: str) -> Rating:
    try:
        return _RATING.validate_json(line)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(map(str, problem["loc"])) or "the line"
        raise RunStoreError(
            f"{REVIEW} of run {store.run_id!r}, line {number}: {where}: {problem['msg']}; restore a copy, or delete it "
            "and import the sheets again"
        ) from None
