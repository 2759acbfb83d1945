from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import AllowanceSpent, ModelCallError
from arena.types import Decision
from strategies.adaptive import ADAPTIVE, LABELS
from strategies.adaptive.graph import preferred
from strategies.ircot import IRCOT
from strategies.nodes import generate, retrieve
from tests.scripted_writer import ScriptedWriter, Verdict
from tests.unit.strategies.ircot.batches import QUESTION, Batches, attempt, chain, choices, decisions, passage

A, B = passage("a"), passage("b")
TWO_STEPS = ["P is Q.", "So the answer is: R."]


def judged(verdict: Verdict) -> ScriptedWriter:
    return ScriptedWriter(text=chain(TWO_STEPS).text, verdict=verdict)


@pytest.mark.parametrize(
    ("policy", "roles", "retrievals", "used"),
    [
        ("always_a", ["generate"], 0, ()),
        ("always_b", ["generate"], 1, ("a",)),
        ("always_c", ["reason", "reason", "generate"], 2, ("a", "b")),
    ],
)
def test_each_label_is_its_strategy_and_a_fixed_one_costs_no_call(
    policy: str, roles: list[str], retrievals: int, used: tuple[str, ...]
) -> None:
    index, writer = Batches([[A], [B]]), judged(lambda *_: pytest.fail("nobody is to be asked"))
    done = attempt(ADAPTIVE, index, writer, policy=policy)
    assert writer.roles() == roles
    assert len(index.asked) == retrievals
    assert done.answer.used_ids == done.answer.retrieved_ids == used
    assert choices(done, "classify") == [policy[-1].upper()]


def test_label_a_shows_the_reader_no_passages() -> None:
    writer = judged(lambda *_: "A")
    attempt(ADAPTIVE, Batches([[A]]), writer)
    assert writer.prompts("generate") == [f"Question: {QUESTION}\nAnswer:"]


def test_strategy_c_is_ircot_to_the_letter() -> None:
    writers = [chain(TWO_STEPS), chain(TWO_STEPS)]
    indexes = [Batches([[A], [B]]), Batches([[A], [B]])]
    adaptive = attempt(ADAPTIVE, indexes[0], writers[0], policy="always_c", max_sentences=5)
    ircot = attempt(IRCOT, indexes[1], writers[1], max_sentences=5)
    assert writers[0].asked == writers[1].asked
    assert indexes[0].asked == indexes[1].asked
    assert adaptive.answer == ircot.answer
    assert adaptive.decisions[1:] == ircot.decisions


def test_the_question_is_classified_once_before_anything_and_by_itself() -> None:
    index, writer = Batches([[A], [B]]), judged(lambda *_: "C")
    attempt(ADAPTIVE, index, writer)
    assert writer.roles() == ["classify", "reason", "reason", "generate"]
    assert writer.prompts("classify") == [f"Question: {QUESTION}\nReply with one of: A, B, C"]


@pytest.mark.parametrize(
    ("verdict", "decision"),
    [
        (
            {"A": 0.2, "B": 0.3, "C": 0.5},
            Decision("classify", "C", 0.5, changed=("evidence",), tier="T1", parts={"A": 0.2, "B": 0.3, "C": 0.5}),
        ),
        ("C", Decision("classify", "C", changed=("evidence",), tier="T0")),
    ],
)
def test_the_decision_states_its_confidence_and_tier(verdict: str | dict[str, float], decision: Decision) -> None:
    done = attempt(ADAPTIVE, Batches([[A], [B]]), judged(lambda *_: verdict))
    assert decisions(done, "classify") == [decision]


def test_labels_as_judge_claims_no_probability() -> None:
    done = attempt(ADAPTIVE, Batches([[A]]), judged(lambda *_: {"A": 0.2, "B": 0.8}), judge="labels")
    assert decisions(done, "classify") == [Decision("classify", "B", tier="T0")]


def test_an_unreadable_label_is_b_and_is_recorded() -> None:
    index = Batches([[A], [B]])
    done = attempt(ADAPTIVE, index, judged(lambda *_: None))
    assert len(index.asked) == 1
    (decision,) = decisions(done, "classify")
    assert (decision.choice, decision.subject, decision.score) == ("B", "unreadable", None)


def test_cost_decides_for_a_cheaper_label_and_says_so() -> None:
    shares = {"A": 0.1, "B": 0.35, "C": 0.55}
    done = attempt(ADAPTIVE, Batches([[A]]), judged(lambda *_: shares), cost_bias=0.6)
    (decision,) = decisions(done, "classify")
    assert (decision.choice, decision.subject) == ("B", "by cost, instead of C")
    assert decision.score == pytest.approx(0.35)
    assert (decision.origin, dict(decision.parts)) == ("user", shares)


SHARES = st.dictionaries(st.sampled_from(LABELS), st.floats(0, 1), min_size=1)


@given(SHARES)
def test_without_a_bias_the_likeliest_label_wins_and_the_cheapest_of_equals(shares: dict[str, float]) -> None:
    best = max(shares.get(label, 0.0) for label in LABELS)
    assert preferred(shares, 0.0) == next(label for label in LABELS if shares.get(label, 0.0) == best)


@given(SHARES, st.floats(0, 10), st.floats(0, 10))
def test_more_bias_never_buys_a_dearer_label(shares: dict[str, float], one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert preferred(shares, high) <= preferred(shares, low)


def test_the_oracle_reads_labels_of_questions_and_costs_no_call(tmp_path: Path) -> None:
    file = tmp_path / "labels.json"
    file.write_text(json.dumps({QUESTION: "C"}), encoding="utf-8")
    writer = judged(lambda *_: pytest.fail("nobody is to be asked"))
    done = attempt(ADAPTIVE, Batches([[A], [B]]), writer, policy="oracle", oracle_labels=str(file))
    assert decisions(done, "classify") == [Decision("classify", "C", changed=("evidence",))]


def test_a_question_without_a_label_is_b_and_is_recorded(tmp_path: Path) -> None:
    file = tmp_path / "labels.json"
    file.write_text("{}", encoding="utf-8")
    done = attempt(ADAPTIVE, Batches([[A], [B]]), judged(lambda *_: "C"), policy="oracle", oracle_labels=str(file))
    assert decisions(done, "classify") == [Decision("classify", "B", subject="no label")]
    assert done.answer.used_ids == ("a",)


def test_no_strategy_falls_back_on_another() -> None:
    def broken(role: str, prompt: str) -> str:
        raise ModelCallError(f"{role}: HTTP 500")

    with pytest.raises(ModelCallError):
        attempt(ADAPTIVE, Batches([[A]]), ScriptedWriter(text=broken, verdict=lambda *_: "A"))


def test_an_allowance_spent_on_the_label_answers_with_what_there_is() -> None:
    def spent(role: str, prompt: str, labels: Sequence[str]) -> str:
        raise AllowanceSpent("0 calls")

    done = attempt(ADAPTIVE, Batches([[A]]), judged(spent))
    assert (done.answer.text, done.answer.used_ids) == ("Mirelle Ostrand", ())
    assert choices(done, "allowance") == ["spent"]


def test_the_graph_is_the_figure_and_holds_the_shared_nodes() -> None:
    graph = ADAPTIVE.build(ADAPTIVE.params()).graph
    assert {(edge.source, edge.target) for edge in graph.get_graph().edges} == ADAPTIVE.figure
    held = {name: getattr(node.runnable, "afunc", None) for name, node in graph.builder.nodes.items()}
    assert held["retrieve"] is retrieve
    assert held["generate"] is held["answer_plain"] is generate
