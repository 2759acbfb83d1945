"""A judge that plays a script, over the small dataset."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.judges.judge import judge_of
from arena.llm.client import LLMClient
from arena.metrics.case import Case
from arena.protocols import Embedder, ModelRequest
from arena.types import Document, JudgeMetric, RunRecord, Verdict
from tests.samples import DOCUMENTS, GOLD, QUESTIONS, answered, cell
from tests.unit.llm.asking import scripted, with_model

JUDGE_1, JUDGE_2 = "You are a world class", "I will rate the User Answer"
STATEMENTS, NLI = "Break down each sentence", "judge the faithfulness of a series of statements"
RECALL, PRECISION = "classify if the statement can be attributed", "verify if the context was useful"


def turns_of(request: ModelRequest) -> list[str]:
    """The texts of a conversation."""
    assert not isinstance(request.prompt, str)
    return [turn.content for turn in request.prompt]


def rule(when: str, reply: object, **fields: Any) -> dict[str, Any]:
    """A rule of a script: `reply` as JSON, or as it is where it is text."""
    text = reply if isinstance(reply, str) else json.dumps(reply)
    return {"when": when, "reply": text} | fields


def listed(*statements: str) -> dict[str, Any]:
    """The rule that takes an answer apart."""
    return rule(STATEMENTS, {"statements": list(statements)})


def judged(*verdicts: tuple[str, int]) -> dict[str, Any]:
    """The rule that judges statements."""
    return rule(
        NLI, {"statements": [{"statement": one, "reason": "so", "verdict": verdict} for one, verdict in verdicts]}
    )


def case_of(record: RunRecord, *more: Document) -> Case:
    """`record` on the small dataset, with further documents."""
    questions = {question.question_id: question for question in QUESTIONS}
    documents = {document.doc_id: document for document in (*DOCUMENTS, *more)}
    return Case(record, questions[record.question_id], GOLD[record.question_id], documents)


def usual_case(text: str = "Mirelle Ostrand", used: tuple[str, ...] = ("d1", "d2")) -> Case:
    """Question q1, answered from its gold documents."""
    return case_of(answered("q1", text, used, of=cell()))


def verdict_on(
    folder: Path,
    metric: JudgeMetric,
    script: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    case: Case | None = None,
    *,
    repeat: int = 0,
    embedder: Embedder | None = None,
    options: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Verdict:
    """The verdict of a judge that plays `script` (its rules, or all of it)."""
    whole = dict(script) if isinstance(script, Mapping) else {"rules": list(script)}

    async def use(model: LLMClient) -> Verdict:
        return await judge_of(model, {}, (metric,), embedder).verdict(case or usual_case(), metric, repeat)

    return with_model(scripted(folder, whole, **settings), use, **dict(options or {}))
