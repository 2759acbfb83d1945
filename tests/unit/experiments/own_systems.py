"""Systems of a user's own, as tests ask them: one function each."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from arena.errors import ConfigError
from tests.samples import DOCUMENTS, GOLD, QUESTIONS

ANSWERS = {one.text: GOLD[one.question_id] for one in QUESTIONS}
ASKED: list[object] = []


def knows(question: str) -> dict[str, Any]:
    """Right about everything, with all that a system may report."""
    gold = ANSWERS[question]
    if not gold.answerable:
        return {"abstained": True, "retrieved": [], "input_tokens": 5, "output_tokens": 0}
    documents = [{"id": one.doc_id, "text": one.text} for one in DOCUMENTS if one.doc_id in gold.supporting_ids]
    return {
        "answer": gold.answers[0],
        "retrieved": [*documents, {"id": "theirs", "text": "Nobody's page."}],
        "used": documents,
        "input_tokens": 20,
        "output_tokens": 3,
    }


def says(question: str) -> str:
    """An answer, and nothing else."""
    return f"About: {question}"


async def asynchronous(question: str, fields: Mapping[str, str]) -> dict[str, Any]:
    """Awaited, and told more than the text."""
    ASKED.append(dict(fields))
    return {"answer": "1871", "calls": [{"role": "plan", "input_tokens": 3, "output_tokens": 1}, {"role": "write"}]}


@dataclass
class Found:
    """What a system of dataclasses gives back."""

    answer: str
    documents: list[str]


class Engine:
    """An object with a method."""

    def query(self, question: str, top_k: int = 3) -> Found:
        return Found("1871", ["d1", "d9", DOCUMENTS[1].text[:30]])


engine = Engine()


def raises(question: str) -> str:
    """Breaks down, and so does its own failure's text."""
    raise KeyError("no such index")


def exits(question: str) -> str:
    """Thinks that it is a script."""
    sys.exit(3)


def misleads(question: str) -> str:
    """Raises what would stop the run, were it ours."""
    raise ConfigError("not of the run")


def ends_early(question: str) -> str:
    """Raises what no future may hold."""
    return next(iter(()))


def hangs(question: str) -> str:
    """Takes no notice of being given up."""
    threading.Event().wait()
    return "never"


async def hangs_asynchronously(question: str) -> str:
    """Likewise, on a loop."""
    threading.Event().wait(5)
    return "never"


def nonsense(question: str) -> object:
    """Nothing that is an answer."""
    return [1, 2]


def wants_three(question: str, index: str, model: str) -> str:
    """Asks for what nobody gives it."""
    return question


def prints(question: str) -> dict[str, Any]:
    """Only retrieves, and says so to everybody."""
    print("retrieving ...")  # noqa: T201  what a user's function may do
    return {"documents": ["d1", "d2", "a page of theirs"]}


NO_FUNCTION = 3
