from __future__ import annotations

from arena.report.sections.limits import legend, notes
from tests.unit.leaderboard.boards import board, row, spent


def test_nothing_is_said_where_everything_is_known() -> None:
    assert notes(board(row(usd=0.01, spending=spent()), row(llm=None))) == []


def test_a_model_without_a_price_is_named_once_with_what_to_do() -> None:
    unpriced = spent(usd=None, paid_usd=None, withheld="no_price")
    said = notes(board(row(spending=unpriced), row("vanilla", spending=unpriced), row("x", spending=spent())))
    assert said == ["USD is withheld: no price is known for local:smollm2-135m; give one under `prices` in the config."]


def test_a_fake_models_missing_price_is_nothing_to_mend() -> None:
    unpriced = spent(usd=None, paid_usd=None, withheld="no_price")
    assert not any("USD" in one for one in notes(board(row(llm="fake:", spending=unpriced))))


def test_unknown_usage_is_counted_where_it_withholds_money() -> None:
    unknown = spent(usd=None, paid_usd=None, unknown_calls=3, withheld="unknown_usage")
    (note,) = notes(board(row("vanilla", "dense", spending=unknown), row("x", spending=spent())))
    assert note == "USD of vanilla + dense is withheld: the provider did not report all tokens of 3 calls."


def test_replays_of_a_model_paid_by_the_hour_have_no_price() -> None:
    timeless = spent(usd=None, replayed_usd=None, replayed_calls=60, withheld="no_seconds")
    said = notes(board(row("vanilla", "dense", spending=timeless, measured=0)))
    assert said[0].startswith("USD of vanilla + dense is withheld: replayed calls have no seconds")
    assert said[-1].startswith("60 calls came from the reply cache")


def test_a_latency_that_was_only_replayed_is_withheld_and_said_so() -> None:
    replayed = spent(replayed_calls=60, replayed_usd=0.01, paid_usd=0.0)
    board_of_replays = board(row("vanilla", "dense", usd=0.01, spending=replayed, measured=0, failed=2))
    withheld, paid_before = notes(board_of_replays)[1:]
    assert withheld.startswith("seconds of vanilla + dense are withheld: every question had a replayed call")
    assert paid_before == "60 calls ($0.01 of the cost) came from the reply cache, paid for before; tokens count them."


def test_replayed_questions_are_counted_where_some_were_measured() -> None:
    some = spent(replayed_calls=1, replayed_usd=0.001)
    said = notes(board(row(usd=0.01, spending=some, measured=59)))
    assert said[0] == "seconds leave out 1 question with a replayed call."


def test_the_legend_names_the_price_list_where_money_is_shown() -> None:
    assert "USD: per question; a-list 1.2, prices of 2026-01-31." in legend(board(row(usd=0.01, spending=spent())))
    assert "USD" not in legend(board(row(usd=None), row(llm=None, usd=0.0)))


def test_the_warm_up_is_no_replay_and_withholds_a_latency_it_is_all_of() -> None:
    warmed = row("vanilla", "dense", measured=59).model_copy(update={"n_warm_up": 1})
    assert notes(board(warmed)) == []
    alone = row("vanilla", "dense", failed=59, measured=0).model_copy(update={"n_warm_up": 1})
    assert (
        "seconds of vanilla + dense are withheld: nothing was measured after the first question"
        in notes(board(alone))[1]
    )
