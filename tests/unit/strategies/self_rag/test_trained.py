"""Self-RAG over a checkpoint that emits its own reflections."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from arena.protocols import Continuation, TokenChoice
from tests.scripted_writer import ScriptedWriter
from tests.unit.strategies.self_rag.shelf import QUESTION, TEXTS, Shelf, ask, of

Pass = Sequence[tuple[str, dict[str, float]]]


@dataclass
class Checkpoint(ScriptedWriter):
    """`passes(prompt)`: the tokens of one continuation, each with its probabilities; the first is the one emitted."""

    passes: Callable[[str], Pass] = lambda prompt: ()
    limits: list[int] = field(default_factory=list)

    async def continue_text(
        self, prompt: str, *, role: str, limit: int, stop: tuple[str, ...] = (), alternatives: int = 0
    ) -> Continuation:
        self.asked.append((role, prompt))
        self.limits.append(limit)
        tokens = tuple(
            TokenChoice(text, math.log(shares.get(text, 0.5)), {name: math.log(p) for name, p in shares.items()})
            for text, shares in list(self.passes(prompt))[:limit]
        )
        assert alternatives
        return Continuation("".join(token.text for token in tokens), tokens, "stop")


def retrieving(prompt: str) -> Pass:
    """Retrieves with P 0.3; d2 is relevant and supports its answer."""
    if "<paragraph>" not in prompt and not prompt.endswith("[No Retrieval]"):
        return [("[No Retrieval]", {"[No Retrieval]": 0.6, "[Retrieval]": 0.3})]
    if prompt.endswith("[No Retrieval]"):
        return [("from memory", {}), ("[Utility:3]", {"[Utility:3]": 1.0})]
    good = TEXTS["d2"] in prompt
    return [
        ("[Relevant]", {"[Relevant]": 0.9 if good else 0.2, "[Irrelevant]": 0.1 if good else 0.8}),
        ("Mirelle Ostrand" if good else "somebody", {}),
        ("[Fully supported]", {"[Fully supported]": 0.9 if good else 0.3, "[No support / Contradictory]": 0.1}),
        ("[Utility:5]", {"[Utility:5]": 1.0}),
    ]


def test_the_papers_delta_retrieves_where_the_emitted_token_would_not() -> None:
    writer = Checkpoint(passes=retrieving)
    attempt = ask(writer, checkpoint=True)
    assert attempt.answer.text == "Mirelle Ostrand"
    assert attempt.answer.used_ids == ("doc-d2",)
    (decision,) = of(attempt, "retrieve?")
    assert decision.score == pytest.approx(1 / 3)
    assert decision.threshold == 0.2
    assert (decision.origin, decision.tier) == ("paper", "T2")
    assert writer.roles() == ["decide_retrieve"] + ["generate_segment"] * 3
    assert writer.limits == [1, 100, 100, 100]


def test_scores_are_read_from_the_same_pass() -> None:
    critiques = of(ask(Checkpoint(passes=retrieving), checkpoint=True), "critique")
    sequence = math.exp((math.log(0.9) + math.log(0.5) + math.log(0.9) + math.log(1.0)) / 4)
    assert critiques[1].score == pytest.approx(sequence + 0.9 + 0.9 / 1.0 + 0.5)
    assert {each.tier for each in critiques} == {"T2"}


def test_prompts_have_the_layout_of_the_training() -> None:
    writer = Checkpoint(passes=retrieving)
    ask(writer, checkpoint=True)
    opening = f"### Instruction:\n{QUESTION}\n\n### Response:\n"
    assert writer.prompts("decide_retrieve") == [opening]
    assert writer.prompts("generate_segment")[0] == f"{opening}[Retrieval]<paragraph>D1\n{TEXTS['d1']}</paragraph>"


def test_hard_constraints_retrieve_only_where_the_token_is_emitted() -> None:
    attempt = ask(Checkpoint(passes=retrieving), checkpoint=True, constraints="hard")
    assert (attempt.answer.text, attempt.answer.used_ids) == ("from memory", ())


def test_a_long_text_goes_on_from_its_own_tokens_and_decisions() -> None:
    def passes(prompt: str) -> Pass:
        if "<paragraph>" not in prompt:
            return [("[Retrieval]", {"[Retrieval]": 0.9, "[No Retrieval]": 0.1})]
        if prompt.endswith("[Continue to Use Evidence]"):
            return [("Two.", {}), ("[Fully supported]", {"[Fully supported]": 1.0}), ("[Utility:5]", {}), ("</s>", {})]
        return [
            ("[Relevant]", {"[Relevant]": 1.0}),
            ("One.", {}),
            ("[Fully supported]", {"[Fully supported]": 1.0}),
            ("[Continue to Use Evidence]", {"[Continue to Use Evidence]": 0.9, "[No Retrieval]": 0.1}),
            ("Never read.", {}),
        ]

    writer = Checkpoint(passes=passes)
    attempt = ask(writer, Shelf(names=("d1",)), "summary", checkpoint=True, beam_width=1)
    assert attempt.answer.text == "One. Two."
    assert [each.choice for each in of(attempt, "retrieve?")] == ["yes", "continue"]
    assert writer.roles() == ["decide_retrieve", "generate_segment", "generate_segment"]
    assert writer.asked[-1][1].endswith(
        f"[Retrieval]<paragraph>D1\n{TEXTS['d1']}</paragraph>[Relevant]One.[Fully supported][Continue to Use Evidence]"
    )
    assert [(each.choice, each.origin) for each in of(attempt, "stop")] == [("end", "default")]
    relevance, support, utility = 1.0, 1.0, 0.5  # the relevance is that of the evidence in hand
    sequence = math.exp(3 * math.log(0.5) / 4)
    assert of(attempt, "critique")[1].score == pytest.approx(sequence + relevance + support + utility)


def test_a_server_without_log_probabilities_gives_hard_labels_and_no_sequence_term() -> None:
    def text(role: str, prompt: str) -> str:
        if role == "decide_retrieve":
            return "[Retrieval]"
        good = TEXTS["d2"] in prompt
        return "[Relevant]yes[Fully supported][Utility:5]" if good else "[Irrelevant]no[Utility:1]"

    attempt = ask(ScriptedWriter(text), checkpoint=True)
    assert attempt.answer.text == "yes"
    assert of(attempt, "critique")[1].score == 2.5
    assert of(attempt, "select")[0].subject == "segment 1, no sequence term"


def test_a_model_that_emits_no_reflections_claims_no_tier() -> None:
    attempt = ask(ScriptedWriter(lambda role, prompt: "somebody"), checkpoint=True)
    assert of(attempt, "retrieve?")[0].choice == "unreadable"
    assert {each.tier for each in attempt.decisions} == {None}


def test_closed_sets_vote_over_matched_options() -> None:
    def text(role: str, prompt: str) -> str:
        if role == "decide_retrieve":
            return "[Retrieval]"
        return "[Relevant]B[Utility:5]" if TEXTS["d1"] not in prompt else "[Relevant]maybe[Utility:5]"

    attempt = ask(ScriptedWriter(text), checkpoint=True, mode="closed_set", options=("true", "false"))
    assert (attempt.answer.text, attempt.answer.used_ids) == ("false", ("doc-d2", "doc-d3"))
