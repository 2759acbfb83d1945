from __future__ import annotations

import pytest

from arena.report.figures import Quotes, path_of, resolve, rule_named, share_of_sum
from tests.unit.leaderboard.boards import board, row


@pytest.mark.parametrize(
    ("rule", "values", "text"),
    [
        ("count", (12345,), "12,345"),
        ("counts", (3, None, 4), "7"),
        ("per_question", (99.96,), "100"),
        ("per_question", (1234.5,), "1,234"),
        ("per_question", (0.04,), "<0.1"),
        ("per_question", (0.0,), "0"),
        ("ratio", (0.125,), "0.12"),
        ("share", (0.004,), "<1%"),
        ("share", (0.996,), ">99%"),
        ("share", (1.0,), "100%"),
        ("share", (0.0,), "0%"),
        ("times", (115.0, 50.0), "2.3"),
        ("times", (1150.0, 50.0), "23"),
        ("times", (10.0, 50.0), "0.20"),
        ("times", (10.0, 0.0), "\N{EN DASH}"),
        ("times_of_sums", (100.0, 15.0, 40.0, 10.0), "2.3"),
        ("times_of_sums", (100.0, None, 40.0, 10.0), "\N{EN DASH}"),
        ("tokens_sum", (1000.4, 33.8), "1,034"),
        ("tokens_sum", (1000.4, None), "unknown"),
        ("turned", (0.123,), "-0.12"),
        ("turned", (0.0,), "+0.00"),
        ("turned_interval", (-0.021, 0.101), "-0.11 to +0.03"),
        ("second", (0.005,), "0.01"),
        (share_of_sum(2), (2, 3, 5), "50%"),
    ],
)
def test_rules(rule: str, values: tuple[float | None, ...], text: str) -> None:
    assert rule_named(rule)(*values) == text


@pytest.mark.parametrize("rule", ["count", "per_question", "ratio", "share", "second", "usd", "signed", "turned", "p"])
def test_what_is_unknown_is_no_zero(rule: str) -> None:
    assert rule_named(rule)(None) == "\N{EN DASH}"


def test_a_path_survives_dots_and_spaces_in_keys() -> None:
    one = row().model_copy(update={"breakdown": {"hop_shape": {"3 hop.1%": {"answer_f1": row().metrics["answer_f1"]}}}})
    path = path_of("cells", 0, "breakdown", "hop_shape", "3 hop.1%", "answer_f1", "mean")
    assert " " not in path
    assert resolve(board(one), path) == 0.5612


def test_a_path_that_leads_nowhere_is_none() -> None:
    assert resolve(board(row()), "cells.0.metrics.nothing.mean") is None
    assert resolve(board(row()), "cells.7.cell") is None


def test_a_quote_is_sorted_by_its_value() -> None:
    quote = Quotes(board(row())).quote("count", "cells.0.n_questions")
    assert (quote.text, quote.path, quote.order) == ("60", "cells.0.n_questions", 60.0)
