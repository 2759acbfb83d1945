from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import TypeVar

import anyio
import pytest

from arena.errors import AllowanceSpent, ModelCallError
from arena.llm.ledger import Ledger
from arena.llm.limits import FINAL_CALLS, Allowance
from arena.llm.metering import GIVEN_UP
from arena.protocols import ChatModel, Message, ModelRequest, Reply, Writer
from tests.unit.llm.scripted_model import USAGE, ScriptedModel, failing, saying, token

T = TypeVar("T")
HELLO = (Message("user", "hello"),)


def ledger_of(model: ChatModel, allowance: Allowance | None = None) -> Ledger:
    return Ledger(model, lambda: 0.0, allowance or Allowance())


def do(use: Callable[[], Awaitable[T]]) -> T:
    async def main() -> T:
        return await use()

    return anyio.run(main)


class SlowFirst(ScriptedModel):
    """Takes the longer, the earlier it was asked."""

    async def fits(self, request: ModelRequest) -> bool:
        return True

    async def complete(self, request: ModelRequest) -> Reply:
        reply = await super().complete(request)
        for _ in range(10 // len(self.requests)):
            await anyio.lowlevel.checkpoint()
        return reply


async def at_once(ledger: Ledger, roles: Sequence[str]) -> list[str]:
    """Roles in the order in which their calls ended, refused ones with a mark."""
    ended: list[str] = []

    async def one(role: str) -> None:
        try:
            await ledger.write(HELLO, role=role)
            ended.append(role)
        except AllowanceSpent:
            ended.append(f"{role}!")

    async with anyio.create_task_group() as group:
        for role in roles:
            group.start_soon(one, role)
    return ended


def test_a_ledger_is_a_writer() -> None:
    writer: Writer = ledger_of(ScriptedModel())
    assert do(lambda: writer.write(HELLO, role="generate")) == "fine"


def test_a_new_ledger_is_empty() -> None:
    assert ledger_of(ScriptedModel()).calls == ()


def test_entries_keep_the_order_of_asking() -> None:
    ledger = ledger_of(SlowFirst())
    assert do(lambda: at_once(ledger, ("a", "b"))) == ["b", "a"]
    assert [call.role for call in ledger.calls] == ["a", "b"]


def test_a_failed_call_is_raised_and_kept() -> None:
    ledger = ledger_of(ScriptedModel([failing("HTTP 400"), saying("fine")]))
    with pytest.raises(ModelCallError, match=r"^model 'scripted:', role 'grade', after 1 attempt: HTTP 400$"):
        do(lambda: ledger.write(HELLO, role="grade"))
    do(lambda: ledger.write(HELLO, role="generate"))
    assert [(call.role, call.error) for call in ledger.calls] == [("grade", "HTTP 400"), ("generate", None)]


@pytest.mark.parametrize("asking", ["classify", "ask", "draft", "continue_text"])
def test_every_way_of_asking_raises_and_keeps_a_failed_call(asking: str) -> None:
    from tests.unit.llm.test_structured import Plan

    ledger = ledger_of(ScriptedModel([failing("HTTP 500")]))
    ways: dict[str, Callable[[], Awaitable[object]]] = {
        "classify": lambda: ledger.classify(HELLO, ("yes", "no"), role="r"),
        "ask": lambda: ledger.ask(HELLO, Plan, role="r"),
        "draft": lambda: ledger.draft(HELLO, role="r"),
        "continue_text": lambda: ledger.continue_text("Once", role="r", limit=3),
    }
    with pytest.raises(ModelCallError, match="HTTP 500"):
        do(ways[asking])
    assert [call.error for call in ledger.calls] == ["HTTP 500"]


def test_a_call_is_placed_on_the_questions_clock() -> None:
    ledger = Ledger(ScriptedModel(), count(7.0).__next__)
    for _ in range(2):
        do(lambda: ledger.write(HELLO, role="generate"))
    assert [call.started_seconds for call in ledger.calls] == [7.0, 8.0]


def test_a_role_is_written_down_as_it_can_be() -> None:
    ledger = ledger_of(ScriptedModel())
    do(lambda: ledger.write(HELLO, role="grade\ud800"))
    assert [call.role for call in ledger.calls] == ["grade?"]


def test_a_cancelled_call_leaves_an_entry_of_unknown_tokens() -> None:
    class Never(ScriptedModel):
        async def complete(self, request: ModelRequest) -> Reply:
            await anyio.sleep_forever()
            raise AssertionError

    ledger = ledger_of(Never())

    async def give_up() -> None:
        with anyio.move_on_after(0):
            await ledger.write(HELLO, role="generate")

    do(give_up)
    (entry,) = ledger.calls
    assert (entry.role, entry.input_tokens, entry.output_tokens) == ("generate", None, None)
    assert entry.error == GIVEN_UP


def test_each_way_of_asking_says_what_it_wants() -> None:
    model = ScriptedModel([saying("so", token("so", 0.5), finish_reason="stop")])
    ledger = ledger_of(model)
    do(lambda: ledger.write(HELLO, role="w", room=220))
    drafted = do(lambda: ledger.draft(HELLO, role="d", limit=40, stop=("\n",), logprobs=True))
    do(lambda: ledger.draft(HELLO, role="p"))
    continued = do(lambda: ledger.continue_text("Once", role="c", limit=9, stop=("</s>",), alternatives=5))
    assert model.requests == [
        ModelRequest(HELLO, "w", room=220),
        ModelRequest(HELLO, "d", limit=40, stop=("\n",), alternatives=1),
        ModelRequest(HELLO, "p"),
        ModelRequest("Once", "c", limit=9, stop=("</s>",), alternatives=5),
    ]
    assert drafted == continued
    assert (drafted.text, drafted.finish_reason) == ("so", "stop")
    assert drafted.mean_logprob == pytest.approx(-0.6931, abs=1e-4)


@pytest.mark.parametrize(
    ("allowance", "said"),
    [
        (Allowance(calls=2), "has used 2 of the 2 calls it may: raise allowance.calls for more"),
        (Allowance(tokens=11), "has used 18 of the 11 tokens it may: raise allowance.tokens for more"),
        (Allowance(calls=5, tokens=18), "has used 18 of the 18 tokens"),
    ],
)
def test_what_a_question_may_use_ends_its_calls_but_the_final_ones(allowance: Allowance, said: str) -> None:
    ledger = ledger_of(ScriptedModel(), allowance)
    for _ in range(2):
        do(lambda: ledger.write(HELLO, role="grade"))
    with pytest.raises(AllowanceSpent, match=said):
        do(lambda: ledger.write(HELLO, role="grade"))
    for _ in range(FINAL_CALLS):
        assert do(lambda: ledger.write(HELLO, role="generate")) == "fine"
    with pytest.raises(AllowanceSpent, match="role 'generate'"):
        do(lambda: ledger.write(HELLO, role="generate"))
    assert len(ledger.calls) == 2 + FINAL_CALLS


def test_unknown_tokens_count_as_far_as_they_are_known() -> None:
    half = saying("fine", attempt=replace(USAGE, output_tokens=None))
    ledger = ledger_of(ScriptedModel([half]), Allowance(tokens=8))
    for _ in range(2):
        do(lambda: ledger.write(HELLO, role="grade"))
    with pytest.raises(AllowanceSpent, match="14 of the 8 tokens"):
        do(lambda: ledger.write(HELLO, role="grade"))


def test_calls_in_flight_count() -> None:
    ledger = ledger_of(SlowFirst(), Allowance(calls=3))
    ended = do(lambda: at_once(ledger, tuple("abcde")))
    assert [role for role in ended if role.endswith("!")] == ["d!", "e!"]
    assert [call.role for call in ledger.calls] == ["a", "b", "c"]


def test_a_repair_needs_an_allowance_too() -> None:
    ledger = ledger_of(ScriptedModel([saying("who knows")]), Allowance(calls=1))
    with pytest.raises(AllowanceSpent):
        do(lambda: ledger.classify(HELLO, ("yes", "no"), role="grade"))
    assert len(ledger.calls) == 1
