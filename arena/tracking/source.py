"""What is copied of a finished run: its files, its texts, its scores, and which questions become traces.

The texts are no file of the run: its dataset has them. A hash of the content tells one state of a run from another.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from arena.config import fingerprint
from arena.datasets import is_known_as, load_dataset
from arena.errors import UserError
from arena.files import file_sha256
from arena.leaderboard.build import Leaderboard, read_leaderboard
from arena.metrics.failures import failure_classes
from arena.plan import Key
from arena.store import MANIFEST, RunStore
from arena.store.runs import require_finished
from arena.types import Document, Gold, Hit, Question

LAYOUT = 3
"""Of what is written to MLflow. Another layout is another content, so that a run or sweep is copied anew."""


@dataclass(frozen=True)
class FinishedRun:
    """A run with all its files written, and how many questions of a cell become traces."""

    store: RunStore
    manifest: Mapping[str, Any]
    board: Leaderboard
    traces: int

    @property
    def key(self) -> str:
        """What finds the copies of this run again: a run of that name, begun at that time."""
        return fingerprint("copy", {"run_id": self.store.run_id, "started": self.manifest["started"]})

    @cached_property
    def files(self) -> tuple[Path, ...]:
        """The files that are copied, by name; locks and what is half written are none."""
        found = (path for path in self.store.folder.iterdir() if path.is_file())
        return tuple(sorted(path for path in found if path.suffix != ".lock" and not path.name.startswith(".")))

    @cached_property
    def digest(self) -> str:
        """Changes with any file but the manifest, which also keeps accounts of what was done with the run."""
        digest = hashlib.sha256(f"{LAYOUT} {self.traces}".encode())
        for path in self.files:
            if path.name != MANIFEST:
                digest.update(f"\0{path.name}\0{file_sha256(path)}".encode())
        return f"content_{digest.hexdigest()[:16]}"

    @property
    def started_ms(self) -> int:
        """When the run was started, in milliseconds of the Unix epoch."""
        return unix_ms(self.manifest["started"])

    @property
    def finished_ms(self) -> int:
        """When it was finished; its start where the manifest does not say."""
        return unix_ms(self.manifest.get("finished") or self.manifest["started"])


def finished_run(store: RunStore, traces: int) -> FinishedRun:
    """The run in `store`.

    Raises:
        RunStoreError: it is not finished, or a file of it cannot be read.
    """
    require_finished(store, "copy it to MLflow")
    return FinishedRun(store, store.manifest(), read_leaderboard(store), traces)


def unix_ms(moment: str) -> int:
    """A moment of ISO 8601, in milliseconds of the Unix epoch."""
    return round(datetime.fromisoformat(moment).timestamp() * 1000)


_TEXT_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class CorpusTexts:
    """The corpus, the questions and their gold, by id; all empty where the dataset cannot be had: `note` says why."""

    documents: Mapping[str, Document] = field(default_factory=dict)
    questions: Mapping[str, Question] = field(default_factory=dict)
    gold: Mapping[str, Gold] = field(default_factory=dict)
    note: str | None = None

    def of(self, hit: Hit) -> tuple[str | None, str | None]:
        """Title and text of what a hit brought, the text cut to what a page can show; None = not known."""
        document = self.documents.get(hit.doc_id)
        if document is None:
            return None, None
        text = document.text[slice(*hit.span)] if hit.span else document.text
        return document.title, text if len(text) <= _TEXT_CHARS else f"{text[:_TEXT_CHARS]} ..."


def texts_of(run: FinishedRun) -> CorpusTexts:
    """The dataset of `run`, if it is still where it was and what it was."""
    asked = run.board.dataset
    try:
        dataset = load_dataset(run.store.data_at or asked.name)
    except UserError as error:
        return CorpusTexts(note=f"traces name questions and documents by id alone: {error}")
    if not is_known_as(dataset, asked.fingerprint):
        return CorpusTexts(note=f"traces name questions and documents by id alone: {asked.name!r} is not what it was")
    return CorpusTexts(
        documents={document.doc_id: document for document in dataset.documents},
        questions={question.question_id: question for question in dataset.questions},
        gold=dataset.gold,
    )


FAILED, WRONG, OTHER = 0, 1, 2
"""Which come first."""


def order_of(outcome: str, failure: str | None) -> int:
    """Failed questions first, then those whose answer went wrong, then the rest. `failure`: its class, if any."""
    if outcome == "failed":
        return FAILED
    found = failure_classes().get(failure) if failure else None
    return WRONG if found and found.is_failure else OTHER


def choose(questions: Iterable[tuple[Key, int]], limit: int) -> frozenset[Key]:
    """At most `limit` of every cell, in the order of `order_of`; among equals by a hash of the question's id.

    So the choice is arbitrary and yet always the same, and cells that fail alike show the same questions.
    """
    by_cell: dict[str, list[tuple[int, str, Key]]] = {}
    for key, order in questions:
        by_cell.setdefault(key[0], []).append((order, hashlib.sha256(key[1].encode()).hexdigest(), key))
    return frozenset(key for ranked in by_cell.values() for _, _, key in heapq.nsmallest(limit, ranked))


CELL, QUESTION, OUTCOME, FAILURE = "cell", "question_id", "outcome", "failure"


@dataclass(frozen=True)
class QuestionTable:
    """The table by columns, all of one length."""

    columns: Mapping[str, list[Any]]

    @cached_property
    def _places(self) -> Mapping[Key, int]:
        keys = zip(self.columns[CELL], self.columns[QUESTION], strict=True)
        return {key: place for place, key in enumerate(keys)}

    def orders(self) -> Iterator[tuple[Key, int]]:
        """Every key with its place in the order of `order_of`."""
        facts = zip(self.columns[OUTCOME], self.columns[FAILURE], strict=True)
        yield from ((key, order_of(*fact)) for key, fact in zip(self._places, facts, strict=True))

    def row(self, key: Key) -> dict[str, Any]:
        """What is known of one question in one cell, without the key."""
        place = self._places[key]
        return {name: column[place] for name, column in self.columns.items() if name not in (CELL, QUESTION)}

    def of_cell(self, cell: str, texts: CorpusTexts) -> dict[str, Any]:
        """The rows of one cell as MLflow shows tables: names of columns, and rows of values.

        Question and gold come from `texts`, None where they are not known.
        """
        names = [name for name in self.columns if name not in (CELL, QUESTION)]
        rows = [
            [question_id, *_asked(question_id, texts), *(self.columns[name][place] for name in names)]
            for (key, question_id), place in self._places.items()
            if key == cell
        ]
        return {"columns": [QUESTION, "question", "gold", *names], "data": rows}


def _asked(question_id: str, texts: CorpusTexts) -> tuple[str | None, str | None]:
    question, gold = texts.questions.get(question_id), texts.gold.get(question_id)
    return question.text if question else None, " | ".join(gold.answers) if gold else None
