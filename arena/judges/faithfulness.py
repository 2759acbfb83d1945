"""Faithfulness: the judge takes the answer apart into statements, and says of each whether the texts carry it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arena.judges.gate import Asked
from arena.judges.protocol import JudgeProtocol, Similarity
from arena.judges.reading import NOT_ASKED, Reading, nothing, share
from arena.judges.reconcile import judged_statements
from arena.judges.subject import Subject
from arena.types import VerdictPart

STATEMENTS = "statements"
NO_STATEMENT = "the judge found no statement in it"


def statements_of(asked: Asked | None) -> tuple[str, ...]:
    """The statements of a reply that lists them."""
    return () if asked is None or asked.reply is None else tuple(asked.reply[STATEMENTS])


def why_no_statements(asked: Asked | None) -> str:
    """Why a reply lists no statements."""
    if asked is None:
        return NOT_ASKED
    return asked.problem or NO_STATEMENT


def _arguments(subject: Subject) -> dict[str, Any]:
    return {
        "user_input": subject.question,
        "response": subject.answer,
        "retrieved_contexts": list(subject.texts.values()),
    }


def _read(asked: Sequence[Asked], _: Subject, __: Similarity) -> Reading:
    listed, judged = (*asked, None, None)[:2]
    sent = statements_of(listed)
    if not sent:
        return nothing(STATEMENTS, why_no_statements(listed))
    if judged is None or judged.reply is None:
        why = NOT_ASKED if judged is None else judged.problem
        return Reading(tuple(VerdictPart(statement, None, why) for statement in sent))
    return share(judged_statements(sent, [_verdict(item) for item in judged.reply[STATEMENTS]]))


def _verdict(item: Mapping[str, Any]) -> tuple[str, int]:
    return item["statement"], item["verdict"]


FAITHFULNESS = JudgeProtocol(
    "faithfulness", "Faithfulness", ("statement_generator_prompt", "nli_statement_prompt"), _arguments, _read
)
