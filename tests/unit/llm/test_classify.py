"""How a ledger asks for a label: turns, bounds and entries. What a reply says is in test_judging."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest

from arena.errors import ModelCallError
from arena.llm.labels import ALTERNATIVES
from arena.llm.ledger import Ledger
from arena.protocols import Judgement, Message, Reply
from tests.unit.llm.scripted_model import USAGE, ScriptedModel, failing, saying, token

MESSAGES = (Message("user", "Is it relevant? Reply yes or no."),)
YES_NO = ("yes", "no")


def judged(
    *replies: Reply, times: int = 1, labels: Sequence[str] = YES_NO
) -> tuple[list[Judgement], ScriptedModel, Ledger]:
    model = ScriptedModel(list(replies))
    ledger = Ledger(model, lambda: 0.0)

    async def main() -> list[Judgement]:
        return [await ledger.classify(MESSAGES, labels, role="grade") for _ in range(times)]

    return anyio.run(main), model, ledger


def test_one_call_with_alternatives_and_a_small_bound() -> None:
    (judgement,), model, ledger = judged(saying("Yes", token("Yes", 0.75, no=0.25)))
    assert (judgement.label, judgement.tier) == ("yes", "T1")
    assert [(one.alternatives, one.limit, one.repair) for one in model.requests] == [(ALTERNATIVES, 4, False)]
    assert [call.role for call in ledger.calls] == ["grade"]


def test_one_repair_turn_names_the_labels() -> None:
    (judgement,), model, ledger = judged(saying("I would say it is"), saying("No."))
    assert judgement == Judgement("no", "T0")
    assert model.requests[1].prompt[:-1] == (*MESSAGES, Message("assistant", "I would say it is"))
    assert model.said_last.endswith("yes, no")
    assert [(call.role, call.repair) for call in ledger.calls] == [("grade", False), ("grade", True)]


def test_a_repaired_reply_may_have_probabilities() -> None:
    (judgement,), _, _ = judged(saying("Well", token("Well")), saying("no", token("no", 0.8, yes=0.2)))
    assert (judgement.label, judgement.tier) == ("no", "T1")


@pytest.mark.parametrize("last", ["still talking", ""])
def test_what_stays_unreadable_is_no_label(last: str) -> None:
    (judgement,), _, ledger = judged(saying("talk"), saying(last))
    assert judgement == Judgement(None, "T0")
    assert len(ledger.calls) == 2


@pytest.mark.parametrize(
    "cut",
    [
        saying("", finish_reason="length"),
        saying("  ", finish_reason="MAX_TOKENS"),
        saying("<think>\nOkay", token("<think>"), finish_reason="length"),
        saying("<think>\n\n</think>", finish_reason="length"),
        failing("HTTP 400: could not finish the message because max_tokens or model output limit was reached"),
    ],
    ids=["nothing", "spaces", "reasoning", "empty reasoning", "refused"],
)
def test_a_model_that_reasons_first_gets_its_full_bound_from_then_on(cut: Reply) -> None:
    judgements, model, ledger = judged(cut, saying("<think>Okay</think>no"), times=2)
    assert judgements == [Judgement("no", "T0")] * 2
    assert [(one.limit, one.alternatives) for one in model.requests] == [(4, ALTERNATIVES), (None, 0), (None, 0)]
    assert [call.repair for call in ledger.calls] == [False, True, False]


def test_an_empty_reply_that_was_not_cut_is_repaired() -> None:
    (judgement,), model, _ = judged(saying("", finish_reason="stop"), saying("yes"))
    assert judgement == Judgement("yes", "T0")
    assert model.requests[1].prompt[-2] == Message("assistant", "(nothing)")
    assert model.requests[1].limit == 4


def test_another_refusal_is_a_failed_call() -> None:
    with pytest.raises(ModelCallError, match="HTTP 400: no such thing"):
        judged(failing("HTTP 400: no such thing"))


def test_usage_of_every_turn_is_kept() -> None:
    _, _, ledger = judged(saying("", finish_reason="length"), saying("hm"), saying("hm"))
    assert [call.attempts for call in ledger.calls] == [(USAGE,)] * 3
