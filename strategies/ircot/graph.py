"""The loop of IRCoT: its settings, its nodes, and the graph that is the loop alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langgraph.graph import END, START
from langgraph.runtime import Runtime
from pydantic import Field

from arena.errors import StrategyError
from arena.protocols import Message, Tools, Writer
from arena.types import Decision, Passage, holds_reasoning, was_cut
from strategies.answer import spoken
from strategies.base import GraphStrategy, Params, named, path, wired
from strategies.fitting import from_passages
from strategies.ircot.prompt import first_sentence, is_reasoning, query_from, reasoning_prompt
from strategies.nodes import ANSWER, RagState, generate, retrieve, writer_of


class IrcotParams(Params):
    """The caps of the loop. How many passages a step retrieves is the comparison's own `k`."""

    max_sentences: int = Field(
        default=8,
        ge=1,
        le=30,
        description="Sentences of reasoning at most; the reader follows. 8 is reported of the paper at second hand "
        "(arXiv 2212.10509), 10 is the default of its released code.",
    )
    max_passages: int = Field(
        default=15,
        ge=1,
        le=100,
        description="Passages collected at most over all steps; later ones are left out and the loop goes on. "
        "15 in the paper, section 4.",
    )
    sentence_tokens: int = Field(
        default=60,
        ge=8,
        le=4096,
        description="Tokens a step may take, unless the model thinks before it speaks. Ours: the paper allows 300 and "
        "throws away all but the first sentence.",
    )


Ending = Literal["marker", "empty", "cap"]

LOOP = path("collect", "reason", "form_query", "retrieve") | path("form_query", "reason", "generate", END)
FIGURE = path(START, "retrieve", "collect") | LOOP

ROLES = {"reason": "the next sentence of reasoning", **ANSWER}

_MARKER = re.compile(r".* answer is:? (.*)")


class IrcotState(RagState, total=False):
    """What the loop keeps beside a retrieval's own passages.

    collected: all passages so far, in order of arrival, each (title, text) once; `collect` shows them as `passages`.
    thoughts: the chain of thought, one sentence a step.
    ended: what ended the loop; absent while it goes on.
    room: the model thinks before it speaks, so that no bound is put on its replies.
    """

    collected: tuple[Passage, ...]
    thoughts: tuple[str, ...]
    ended: Ending
    room: bool


@dataclass(frozen=True, slots=True)
class Loop:
    """The nodes of one step, under given caps."""

    params: IrcotParams

    async def collect(self, state: IrcotState) -> IrcotState:
        """Add what the retrieval brought, as far as there is room."""
        before = state.get("collected", ())
        fresh = new_among(state.get("passages", ()), before)
        room = self.params.max_passages - len(before)
        collected = (*before, *fresh[:room])
        decision = Decision(
            "collect",
            "full" if len(fresh) > room else "added" if fresh else "nothing_new",
            score=float(len(collected)),
            threshold=float(self.params.max_passages),
            origin=self._origin("max_passages"),
            changed=("evidence",) if fresh[:room] else (),
            subject=_step(state),
        )
        # The first retrieval is vanilla's too: bringing something new is no achievement of the loop.
        tells = bool(state.get("thoughts")) or decision.choice == "full"
        return {"collected": collected, "passages": collected, "decisions": (decision,) if tells else ()}

    async def reason(self, state: IrcotState, runtime: Runtime[Tools]) -> IrcotState:
        """Write on; only the first sentence is kept. The answer marker, silence or the cap ends the chain."""
        writer, thoughts = writer_of(runtime.context), state.get("thoughts", ())
        (sentence, room), _, left_out = await from_passages(
            writer,
            lambda shown: reasoning_prompt(state["question"], shown, thoughts),
            state.get("passages", ()),
            lambda prompt, _: self._next_sentence(writer, prompt, room=state.get("room", False)),
            subject=_step(state),
        )
        written = (*thoughts, sentence) if sentence else thoughts
        ended = ending(written, silent=not sentence, cap=self.params.max_sentences)
        if ended is None:
            return {"thoughts": written, "room": room, "decisions": left_out}
        steps = float(len(thoughts) + 1)
        cap, origin = float(self.params.max_sentences), self._origin("max_sentences")
        exit_ = Decision("exit", ended, steps, cap, origin, ("answer",))
        return {"thoughts": written, "ended": ended, "decisions": (*left_out, exit_)}

    async def _next_sentence(self, writer: Writer, prompt: Sequence[Message], *, room: bool) -> tuple[str, bool]:
        """The sentence, and whether the model needs `room`: it thinks first, and a bounded reply held only that.

        The stop at a line's end meets thoughts as well, and then nothing says that the reply was cut.
        """
        if not room:
            said = await writer.draft(prompt, role="reason", limit=self.params.sentence_tokens, stop=("\n",))
            sentence = _kept(said.text)
            if sentence or not (was_cut(said.finish_reason) or holds_reasoning(said.text)):
                return sentence, False
        return _kept((await writer.draft(prompt, role="reason")).text), True

    async def form_query(self, state: IrcotState) -> IrcotState:
        """The query of the next retrieval; with nothing left to ask, that retrieval is skipped."""
        choice, query = next_query(state)
        if not query:
            return {"decisions": (Decision("query", "skipped", subject=_step(state)),)}
        differs = query != (state.get("search_query") or state["question"])
        decision = Decision("query", choice, changed=("query",) if differs else (), subject=_step(state))
        return {"search_query": query, "decisions": (decision,)}

    def _origin(self, cap: str) -> str:
        return "user" if getattr(self.params, cap) != type(self.params).model_fields[cap].default else "default"


def new_among(passages: Sequence[Passage], known: Sequence[Passage]) -> tuple[Passage, ...]:
    """Those of `passages` whose title and text together are not yet known, each once, in order."""
    seen = {(passage.title, passage.text) for passage in known}
    new: list[Passage] = []
    for passage in passages:
        if (passage.title, passage.text) not in seen:
            seen.add((passage.title, passage.text))
            new.append(passage)
    return tuple(new)


def ending(thoughts: Sequence[str], *, silent: bool, cap: int) -> Ending | None:
    """What ends a chain whose last reply gave `thoughts[-1]`, or nothing (`silent`); None = it goes on."""
    if silent:
        return "empty"
    if _MARKER.match(thoughts[-1]):
        return "marker"
    return "cap" if len(thoughts) >= cap else None


def next_query(state: IrcotState) -> tuple[str, str]:
    """Where the next query comes from, and the query (empty = skip the retrieval).

    `sentence`: the last one; `repeated_sentence`: the last one, which was there before; `earlier_sentence`: the last
    that states a fact; `question`: no sentence does.
    """
    thoughts = state.get("thoughts", ())
    factual = [sentence for sentence in thoughts if not is_reasoning(sentence)]
    if not factual:
        return "question", query_from(state["question"])
    if is_reasoning(thoughts[-1]):
        return "earlier_sentence", query_from(factual[-1])
    return "repeated_sentence" if thoughts[-1] in thoughts[:-1] else "sentence", query_from(factual[-1])


async def after_reason(state: IrcotState) -> str:
    """Read, once the chain has ended."""
    return "generate" if state.get("ended") else "form_query"


async def after_query(state: IrcotState) -> str:
    """Retrieve, if there is anything to ask."""
    return "retrieve" if next_query(state)[1] else "reason"


WAYS = {"reason": after_reason, "form_query": after_query}


def loop_nodes(params: IrcotParams) -> dict[str, Any]:
    """The nodes of `LOOP`; the graph brings its own way to `collect`.

    The reader is the shared `generate`: a separate call on the passages, never the chain's own last sentence.
    """
    loop = Loop(params)
    return named(retrieve, loop.collect, loop.reason, loop.form_query, generate)


def build(params: IrcotParams) -> GraphStrategy:
    """The figure: START -> retrieve -> collect, and the loop."""
    return GraphStrategy(wired("ircot", IrcotState, FIGURE, loop_nodes(params), WAYS))


def _kept(reply: str) -> str:
    """The sentence of a reply that is kept; empty when it says nothing, or was cut off while it reasoned."""
    try:
        return first_sentence(spoken(reply))
    except StrategyError:
        return ""


def _step(state: IrcotState) -> str:
    return f"step {len(state.get('thoughts', ())) + 1}"
