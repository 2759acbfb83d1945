from __future__ import annotations

import pytest

from arena.metrics.answer import lexical_citation_precision, supported_share, uncited_statements

TOLM, VEYRA, BRANDT = "Tolm was founded by Ilse Brandt.", "The Veyra rises in Tolm.", "Ilse Brandt was a weaver."
ANSWER = "Ilse Brandt founded Tolm. The Veyra rises there."


@pytest.mark.parametrize(
    ("cited", "recall", "precision"),
    [
        ([TOLM, VEYRA], 1.0, 1.0),
        ([TOLM], 0.5, 1.0),
        ([TOLM, VEYRA, BRANDT], 1.0, 2 / 3),
        ([BRANDT], 0.0, 0.0),
        ([], 0.0, None),
    ],
)
def test_by_hand(cited: list[str], recall: float, precision: float | None) -> None:
    assert (supported_share(ANSWER, cited), lexical_citation_precision(ANSWER, cited)) == (recall, precision)
    assert uncited_statements(ANSWER, cited) == float(not cited)


def test_cited_texts_may_carry_a_statement_together_that_none_carries_alone() -> None:
    statement = "The Veyra rises where Ilse Brandt was weaver."
    assert supported_share(statement, [VEYRA, BRANDT]) == 1.0
    assert lexical_citation_precision(statement, [VEYRA, BRANDT]) == 0.0


def test_an_answer_that_states_nothing_is_undefined() -> None:
    for metric in (supported_share, lexical_citation_precision, uncited_statements):
        assert metric("So it is.", [TOLM]) is None
