"""What flows through a strategy's graph."""

from __future__ import annotations

import operator
from typing import Annotated, TypedDict

from arena.types import Answer, AnswerStyle, Decision, Passage


class RagState(TypedDict, total=False):
    """State of one question. `question` and `style` are given and never written by a node.

    search_query: what the retrieve node asks the index; absent = the question itself.
    passages: the evidence in hand, best first.
    retrieved_ids: documents brought by any retrieval so far, in order of arrival, repeats allowed.
    """

    question: str
    style: AnswerStyle
    search_query: str
    passages: tuple[Passage, ...]
    retrieved_ids: Annotated[tuple[str, ...], operator.add]
    decisions: Annotated[tuple[Decision, ...], operator.add]
    answer: Answer
