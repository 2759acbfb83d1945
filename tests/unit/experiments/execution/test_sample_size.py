from __future__ import annotations

import pytest

from experiments.execution.budget import questions_needed, sample_size_note


def test_the_line_names_the_difference_for_every_number_of_questions() -> None:
    # (1.960 + 0.842) * sqrt(0.2 / 120) = 0.1144, and half of it for four times the questions
    line = sample_size_note([480, 120, 480])
    assert line.startswith("With 480 questions, cells that differ by 0.057 or more in answer_em are told apart")
    assert "; with 120, by 0.11 or more (5 % level" in line


@pytest.mark.parametrize(("difference", "needed"), [(0.1144, 120), (0.05, 628), (2.0, 1)])
def test_questions_needed_for_a_difference(difference: float, needed: int) -> None:
    assert questions_needed(difference) == needed


@pytest.mark.parametrize("difference", [0.0, -0.1])
def test_no_number_of_questions_shows_no_difference(difference: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        questions_needed(difference)
