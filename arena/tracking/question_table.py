"""What scoring found out about every question of every cell: questions.parquet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from arena.plan import Key
from arena.store import QUESTIONS, RunStore
from arena.tracking.choice import order_of
from arena.tracking.texts import Texts

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

    def of_cell(self, cell: str, texts: Texts) -> dict[str, Any]:
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


def _asked(question_id: str, texts: Texts) -> tuple[str | None, str | None]:
    question, gold = texts.questions.get(question_id), texts.gold.get(question_id)
    return question.text if question else None, " | ".join(gold.answers) if gold else None


def question_table(store: RunStore) -> QuestionTable:
    """The table of a run. Raises `RunStoreError` where there is none."""
    return QuestionTable(store.read_table(QUESTIONS))
