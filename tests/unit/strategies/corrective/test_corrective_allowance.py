from __future__ import annotations

from collections.abc import Sequence

import pytest

from arena.errors import AllowanceSpent
from tests.unit.strategies.corrective.shelf import Trial, attempt, passage, shown_text

TEN = [passage(f"d{n}", f"Passage {n}. One. Two. Three.") for n in range(3)]
WEB = [passage("w0", "Web 0. One. Two. Three.")]


def spent_at(node: str, label: str) -> Trial:
    """One attempt whose calls run out at `node`; every passage of the index is judged `label`."""

    def judge(role: str, prompt: str, labels: Sequence[str]) -> str:
        if role == node:
            raise AllowanceSpent("no more calls")
        return "relevant" if "Web" in shown_text(prompt) else label

    def write(role: str, prompt: str) -> str:
        if role == node:
            raise AllowanceSpent("no more calls")
        return "Mirelle Ostrand [1]"

    return attempt(TEN, judge, found=WEB, write=write, external="second_index")


@pytest.mark.parametrize(
    ("node", "label", "used"),
    [
        ("evaluate", "irrelevant", ("d0", "d1", "d2")),  # nothing was judged, nothing rejected
        ("refine", "relevant", ("d0", "d1", "d2")),
        ("rewrite", "irrelevant", ()),
        ("rewrite", "unsure", ("d0", "d1", "d2")),
        ("select_external", "irrelevant", ("w0",)),  # found, and no longer to be judged
        ("select_external", "unsure", ("d0", "d1", "d2")),
    ],
)
def test_the_answer_is_made_of_what_there_is_and_never_of_what_was_rejected(
    node: str, label: str, used: tuple[str, ...]
) -> None:
    trial = spent_at(node, label)
    assert trial.attempt.answer.text == "Mirelle Ostrand"
    assert trial.attempt.answer.used_ids == used
    (last,) = trial.decisions("allowance")
    assert (last.choice, last.subject) == ("spent", "no more calls")
    assert last is trial.attempt.decisions[-1]


def test_decisions_made_before_are_kept() -> None:
    assert spent_at("rewrite", "irrelevant").choice("decide_action") == "incorrect"
