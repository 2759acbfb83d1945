"""The state and the nodes that all strategies share, first of all the ONE retrieve node.

A node takes the state and returns the keys it changes. What it may use (retriever, model) comes in through LangGraph's
runtime context, so there are no globals and every graph holds the same functions.

Calls that do not wait for one another are made at the same time.
"""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Annotated, Any, TypedDict, TypeVar

from langgraph.runtime import Runtime

from arena.errors import StrategyError
from arena.protocols import Tools, Writer
from arena.types import Answer, AnswerStyle, Decision, Passage, ShownDocument, grouped
from strategies.answer import answer_prompt, cited_documents, parse_answer
from strategies.fitting import from_passages


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


ANSWER = {"generate": "the final answer"}
"""What `generate` asks a model for, as a strategy's `roles` say it."""

SUMMARY_MAX_TOKENS = 220
"""Room for about 100 words of English in any common tokenizer."""


async def retrieve(state: RagState, runtime: Runtime[Tools]) -> RagState:
    """Ask the index for `search_query` (the question, if no node set one); its hits replace `passages`."""
    tools = runtime.context
    query = state.get("search_query") or state["question"]
    retrieval = await tools.retriever.retrieve(tools.settings.request(query))
    passages = tuple(tools.retriever.passage(hit.passage_id) for hit in retrieval.hits)
    return {"passages": passages, "retrieved_ids": tuple(hit.doc_id for hit in retrieval.hits)}


async def generate(state: RagState, runtime: Runtime[Tools]) -> RagState:
    """Write the final answer from the passages in hand (none: from the model's own knowledge)."""
    writer, room = writer_of(runtime.context), SUMMARY_MAX_TOKENS if state["style"] == "summary" else None
    reply, passages, left_out = await from_passages(
        writer,
        lambda shown: answer_prompt(state["question"], shown, state["style"]),
        state.get("passages", ()),
        lambda messages, _: writer.write(messages, role="generate", room=room),
        room=room,
    )
    parsed = parse_answer(reply)
    cited = cited_documents(parsed.cited, passages)
    answer = answer_from(passages, state, parsed.text, abstained=parsed.abstained, cited_ids=cited)
    return {"answer": answer, "decisions": left_out} if left_out else {"answer": answer}


def answer_from(
    passages: Sequence[Passage],
    state: Mapping[str, Any],
    text: str | None,
    *,
    abstained: bool,
    cited_ids: tuple[str, ...] = (),
) -> Answer:
    """The answer that was written from `passages` as they are: from those that stood in the prompt, cut as they were.

    `state`: the graph's, for its `retrieved_ids`.
    """
    return Answer(
        text=text,
        abstained=abstained,
        retrieved_ids=tuple(dict.fromkeys(state.get("retrieved_ids", ()))),
        used_ids=document_ids(passages),
        cited_ids=cited_ids,
        shown=shown_documents(passages),
    )


def shown_documents(passages: Sequence[Passage]) -> tuple[ShownDocument, ...]:
    """What `passages` show of each document, in the order of `document_ids`: where it stands, and how it reads.

    The runner looks the spans up in what was retrieved, and keeps a text only where they do not give it.
    """
    groups = grouped((passage.doc_id, passage) for passage in dict.fromkeys(passages))
    return tuple(ShownDocument(doc_id, _spans(group), _as_shown(group)) for doc_id, group in groups.items())


def _spans(passages: Iterable[Passage]) -> tuple[tuple[int, int], ...]:
    return tuple(dict.fromkeys(span for passage in passages for span in passage.spans))


def _as_shown(passages: Sequence[Passage]) -> str:
    """Title and text of each, the title once where it is that of the one before."""
    lines: list[str] = []
    for before, passage in zip((None, *passages), passages, strict=False):
        lines += [passage.text] if before and before.title == passage.title else [passage.title, passage.text]
    return "\n".join(lines)


def writer_of(tools: Tools) -> Writer:
    """The model, for a node that asks it. Raises `StrategyError` where there is none."""
    if tools.writer is None:
        raise StrategyError("the strategy asks a model but declares `needs_model=False`: declare that it needs one")
    return tools.writer


def document_ids(passages: Sequence[Passage]) -> tuple[str, ...]:
    """The documents of `passages`, each once, in order."""
    return tuple(dict.fromkeys(passage.doc_id for passage in passages))


A = TypeVar("A")
B = TypeVar("B")


async def all_of(jobs: Sequence[Coroutine[Any, Any, A]]) -> list[A]:
    """Results in order; when all have ended, the first error in that order is raised.

    None is cut short for another's error: a call that is cancelled under way is paid for and leaves no ledger entry.
    """
    ended = await asyncio.gather(*jobs, return_exceptions=True)
    results: list[A] = []
    for each in ended:
        if isinstance(each, BaseException):
            raise each
        results.append(each)
    return results


async def both(first: Coroutine[Any, Any, A], second: Coroutine[Any, Any, B]) -> tuple[A, B]:
    """`all_of` for two of different types."""
    one: Any
    other: Any
    one, other = await all_of([first, second])
    return one, other
