from __future__ import annotations

import json

import pytest

from arena.llm.fake.judging import judged_form


def turn(**fields: object) -> str:
    """The end of a prompt of ragas."""
    return f"Rate.\n\nNow perform the same with the following input\ninput: {json.dumps(fields, indent=4)}\nOutput: "


@pytest.mark.parametrize(
    ("answer", "reference", "rating"),
    [
        ("The Sarn.", "sarn", 4),
        ("Mirelle Ostrand", "Ostrand", 2),
        ("Ostrand", "Mirelle Ostrand", 2),
        ("Sarn", "Ostrand", 0),
        ("Mirelle Sarn", "Mirelle Ostrand", 0),
        ("the", "Ostrand", 0),
    ],
)
def test_answers_are_rated_by_their_words(answer: str, reference: str, rating: int) -> None:
    prompt = turn(query="Who?", user_answer=answer, reference_answer=reference)
    assert json.loads(judged_form({"rating": {}}, [prompt]) or "") == {"rating": rating}


def test_statements_are_sentences_and_carried_by_most_of_their_words() -> None:
    listed = judged_form({"statements": {}}, [turn(question="Who?", answer="It rains in Sarn. Ann left!")])
    assert json.loads(listed or "") == {"statements": ["It rains in Sarn.", "Ann left!"]}
    prompt = turn(context="In Sarn it often rains.", statements=["It rains in Sarn.", "Ann left!"])
    found = json.loads(judged_form({"statements": {}}, [prompt]) or "")["statements"]
    assert [(item["statement"], item["verdict"]) for item in found] == [("It rains in Sarn.", 1), ("Ann left!", 0)]


def test_each_statement_is_in_one_class() -> None:
    prompt = turn(question="Who?", answer=["Ann left.", "Bob came."], ground_truth=["Ann left.", "Eve slept."])
    found = json.loads(judged_form({"TP": {}, "FP": {}, "FN": {}}, [prompt]) or "")
    assert {name: [item["statement"] for item in items] for name, items in found.items()} == {
        "TP": ["Ann left."],
        "FP": ["Bob came."],
        "FN": ["Eve slept."],
    }


def test_after_a_repair_turn_the_prompt_before_it_counts() -> None:
    prompt = turn(query="Who?", user_answer="Sarn", reference_answer="Sarn")
    assert judged_form({"rating": {}}, [prompt, "no", "That cannot be used."]) == '{"rating": 4}'


@pytest.mark.parametrize(
    "prompt", ["Rate it.", turn(query="Who?"), "\nNow perform the same with the following input\ninput: {x}\nOutput: "]
)
def test_what_is_no_prompt_of_ragas_is_left_to_other_rules(prompt: str) -> None:
    assert judged_form({"rating": {}}, [prompt]) is None
    assert judged_form({"plan": {}}, [turn(query="Who?", user_answer="a", reference_answer="a")]) is None
