from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.llm.fake.judging import answer, passages
from arena.text import ABSTENTION

PROMPT = """Answer from the passages.

<passages>
[1] Tarn (river): The Tarn rises near Oster. It is crossed by a bridge built in 1844.
[2] Oster: Oster is a town. The mayor of Oster is Ida Brandt: she was elected
by the guild.
</passages>

Question: {question}
Answer:"""


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("Who is the mayor of Oster?", "Ida Brandt"),
        ("When was the bridge across the Tarn built?", "1844"),
        ("Which town elected a mayor with a guild named Brandt, Ida of Oster?", "by the guild"),
        ("Why do zebras sleep?", ABSTENTION),
        ("the of in?", ABSTENTION),
    ],
)
def test_answers_are_copied_from_the_closest_sentence(question: str, reply: str) -> None:
    assert answer(PROMPT.format(question=question)) == reply


def test_without_passages_it_abstains() -> None:
    assert answer("Question: Who is the mayor of Oster?\nAnswer:") == ABSTENTION


def test_without_a_question_it_abstains() -> None:
    assert answer("[1] Oster: Oster is a town.") == ABSTENTION


def test_the_last_question_counts() -> None:
    prompt = "Question: Which river?\nAnswer: Tarn\n" + PROMPT.format(question="Who is the mayor of Oster?")
    assert answer(prompt) == "Ida Brandt"


def test_passages_are_read_without_number_and_title() -> None:
    assert passages(PROMPT) == [
        "The Tarn rises near Oster. It is crossed by a bridge built in 1844.",
        "Oster is a town. The mayor of Oster is Ida Brandt: she was elected by the guild.",
    ]


def test_a_line_without_title_is_a_passage_too() -> None:
    assert passages("[1] just words\n\n[2]\n") == ["just words", ""]


@given(st.text())
def test_any_prompt_has_one_answer(prompt: str) -> None:
    assert answer(prompt) == answer(prompt)
    assert answer(prompt)


@given(st.text(alphabet="aA.? \n[]1:", max_size=60))
def test_prompts_of_any_form_are_answered(prompt: str) -> None:
    assert answer(f"[1] T: {prompt}\nQuestion: {prompt}")
