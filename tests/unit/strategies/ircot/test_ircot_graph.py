from __future__ import annotations

import pytest

from arena.errors import AllowanceSpent
from arena.types import Decision
from strategies.ircot import IRCOT
from strategies.ircot.graph import ending
from strategies.nodes import generate, retrieve
from tests.scripted_writer import ScriptedWriter
from tests.unit.strategies.ircot.batches import QUESTION, Batches, Thinker, attempt, chain, choices, decisions, passage

A, B, C, D = (passage(name) for name in "abcd")


def test_the_papers_example_keeps_one_sentence_a_step_and_stops_on_the_marker() -> None:
    index = Batches([[A], [B], [C]])
    writer = chain(["X is in Y. So the answer is: Z.", "So the answer is: Z. X is in Y."])
    done = attempt(IRCOT, index, writer)
    assert writer.roles() == ["reason", "reason", "generate"]
    assert "Reasoning so far: nothing yet\n" in writer.prompts("reason")[0]
    assert "Reasoning so far: X is in Y.\n" in writer.prompts("reason")[1]
    assert index.queries == [QUESTION, "X in Y."]
    assert decisions(done, "exit") == [Decision("exit", "marker", 2.0, 8.0, "default", ("answer",))]


def test_the_answer_is_the_readers_and_not_the_chains_own_ending() -> None:
    writer = chain(["So the answer is: Z."], answer="Mirelle Ostrand [2]")
    done = attempt(IRCOT, Batches([[A, B]]), writer)
    assert (done.answer.text, done.answer.cited_ids) == ("Mirelle Ostrand", ("b",))
    (prompt,) = writer.prompts("generate")
    assert prompt.count(f"Question: {QUESTION}") == 1
    assert "So the answer is" not in prompt


def test_passages_accumulate_in_order_of_arrival_and_the_reader_sees_them_all() -> None:
    writer = chain(["P is Q.", "Q is R.", "So the answer is: R."])
    done = attempt(IRCOT, Batches([[A, B], [B, C], [A]]), writer)
    assert done.answer.used_ids == ("a", "b", "c")
    assert done.answer.retrieved_ids == ("a", "b", "c")
    assert ["Title c" in prompt for prompt in writer.prompts("reason")] == [False, True, True]
    assert decisions(done, "collect") == [
        Decision("collect", "added", 3.0, 15.0, "default", ("evidence",), subject="step 2"),
        Decision("collect", "nothing_new", 3.0, 15.0, "default", (), subject="step 3"),
    ]


def test_equal_title_and_text_are_one_passage_whatever_the_id() -> None:
    twin = passage("a")
    done = attempt(IRCOT, Batches([[A, A], [twin]]), chain(["P is Q.", "So the answer is: R."]))
    assert done.answer.used_ids == ("a",)


def test_a_full_collection_keeps_the_rest_out_and_the_loop_goes_on() -> None:
    many = [[passage(f"p{3 * step + n}") for n in range(3)] for step in range(8)]
    index = Batches(many)
    done = attempt(IRCOT, index, chain(f"P is Q{n}." for n in range(20)))
    assert len(done.answer.used_ids) == 15
    assert len(index.asked) == 8
    assert choices(done, "collect") == ["added"] * 4 + ["full"] * 3
    assert [bool(decision.changed) for decision in decisions(done, "collect")] == [True] * 4 + [False] * 3


def test_the_cap_holds_from_the_first_retrieval_on() -> None:
    done = attempt(IRCOT, Batches([[A, B, C]]), chain(["So the answer is: R."]), max_passages=2)
    assert done.answer.used_ids == ("a", "b")
    (full,) = decisions(done, "collect")
    assert (full.choice, full.origin, full.changed) == ("full", "user", ("evidence",))


def test_a_model_that_never_concludes_ends_by_the_cap_with_the_reader_called_once() -> None:
    writer, index = chain(["P is Q."]), Batches([[A]])
    done = attempt(IRCOT, index, writer)
    assert writer.roles() == ["reason"] * 8 + ["generate"]
    assert len(index.asked) == 8
    assert decisions(done, "exit") == [Decision("exit", "cap", 8.0, 8.0, "default", ("answer",))]
    assert choices(done, "query") == ["sentence"] + ["repeated_sentence"] * 6


def test_a_reply_that_repeats_the_whole_chain_never_gets_to_its_marker() -> None:
    done = attempt(IRCOT, Batches([[A]]), chain(["X is in Y. So the answer is: Z."]), max_sentences=10)
    assert decisions(done, "exit") == [Decision("exit", "cap", 10.0, 10.0, "user", ("answer",))]


@pytest.mark.parametrize("reply", ["", " \n", "..."])
def test_silence_ends_the_chain(reply: str) -> None:
    writer = chain(["P is Q.", reply])
    done = attempt(IRCOT, Batches([[A]]), writer)
    assert writer.roles() == ["reason", "reason", "generate"]
    assert decisions(done, "exit") == [Decision("exit", "empty", 2.0, 8.0, "default", ("answer",))]


@pytest.mark.parametrize("stopped", ["<think>Let me see", "<think>hm</think>", "<think></think>"])
def test_thoughts_that_a_stop_ended_are_no_silence(stopped: str) -> None:
    writer = chain(["P is Q.", stopped, "So the answer is: R."])
    done = attempt(IRCOT, Batches([[A]]), writer)
    assert writer.roles() == ["reason", "reason", "reason", "generate"]
    assert choices(done, "exit") == ["marker"]


def test_conclusions_are_never_a_query_and_the_fact_before_is_asked_again() -> None:
    index = Batches([[A]])
    done = attempt(IRCOT, index, chain(["P is Q.", "So, it must be R.", "Thus 3 + 4 = 7.", "So the answer is: R."]))
    assert index.queries == [QUESTION, "P Q.", "P Q.", "P Q."]
    assert choices(done, "query") == ["sentence", "earlier_sentence", "earlier_sentence"]
    assert [bool(decision.changed) for decision in decisions(done, "query")] == [True, False, False]


def test_without_a_fact_the_question_is_asked_without_its_question_words() -> None:
    index = Batches([[A]])
    done = attempt(IRCOT, index, chain(["So it is unclear.", "So the answer is: R."]))
    assert index.queries == [QUESTION, "governs the town of the Orlen Weir?"]
    assert choices(done, "query") == ["question"]


def test_with_nothing_to_ask_the_retrieval_is_skipped_and_the_step_counts() -> None:
    index = Batches([[A]])
    done = attempt(IRCOT, index, chain(["How is", "So the answer is: R."]))
    assert index.queries == [QUESTION]
    assert decisions(done, "query") == [Decision("query", "skipped", subject="step 2")]
    assert decisions(done, "exit")[0].score == 2.0
    assert done.answer.used_ids == ("a",)


@pytest.mark.parametrize(
    ("sentence", "ended"),
    [
        ("So the answer is: Z.", "marker"),
        ("So the answer is Z.", "marker"),
        ("No answer is given", "marker"),
        ("So the Answer is: Z.", None),
        ("answer is: Z.", None),
        ("So the answer is:", None),
        ("So the answer is", None),
        ("Z is the answer.", None),
    ],
)
def test_the_marker_is_matched_as_the_code_does(sentence: str, ended: str | None) -> None:
    assert ending([sentence], silent=False, cap=8) == ended


def test_the_marker_goes_before_the_cap() -> None:
    assert ending(["P is Q.", "So the answer is: Z."], silent=False, cap=2) == "marker"
    assert ending(["P is Q.", "Q is R."], silent=False, cap=2) == "cap"


def test_a_model_that_thinks_first_is_given_room_from_then_on() -> None:
    script = chain(["unheard", "P is Q.", "So the answer is: R."])
    writer = Thinker(text=script.text)
    done = attempt(IRCOT, Batches([[A], [B]]), writer)
    assert writer.bounds == [60, None, None]
    assert choices(done, "exit") == ["marker"]
    assert done.answer.used_ids == ("a", "b")


def test_a_spent_allowance_reads_what_was_collected() -> None:
    class Spending(ScriptedWriter):
        def _note(self, role: str, prompt: str) -> str:
            if role == "reason" and len(self.prompts("reason")) == 2:
                raise AllowanceSpent("12 calls")
            return super()._note(role, prompt)

    done = attempt(IRCOT, Batches([[A, B], [C], [D]]), Spending(text=chain(["P is Q.", "Q is R."]).text))
    assert done.answer.used_ids == ("a", "b", "c", "d")
    assert choices(done, "allowance") == ["spent"]
    assert choices(done, "exit") == []


def test_the_graph_is_the_figure_and_holds_the_shared_nodes() -> None:
    graph = IRCOT.build(IRCOT.params()).graph
    assert {(edge.source, edge.target) for edge in graph.get_graph().edges} == IRCOT.figure
    assert getattr(graph.builder.nodes["retrieve"].runnable, "afunc", None) is retrieve
    assert getattr(graph.builder.nodes["generate"].runnable, "afunc", None) is generate


def test_nothing_retrieved_is_survived() -> None:
    done = attempt(IRCOT, Batches([[]]), chain(["P is Q.", "So the answer is: R."]))
    assert (done.answer.used_ids, done.answer.retrieved_ids) == ((), ())
    assert choices(done, "collect") == ["nothing_new"]
