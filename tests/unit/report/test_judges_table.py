from __future__ import annotations

from typing import Any

from arena.leaderboard.judge_card import Agreement, JudgeCard
from arena.report.sections.judges import judge_notes, judges
from tests.unit.leaderboard.boards import board, row
from tests.unit.leaderboard.boards import printed as print_of


def card(**changes: Any) -> JudgeCard:
    fields = {
        "judge": "openai:gpt-x",
        "metric": "answer_accuracy",
        "judge_sha": "judge_1",
        "due": 60,
        "judged": 60,
        "partly": 0,
        "mean": 0.625,
        "repeats": 1,
        "calls": 120,
        "input_tokens": 12_000,
        "output_tokens": 345,
        "usd": 0.0421,
    }
    return JudgeCard(**(fields | changes))


def agreement(kappa: float | None, other: str = "answer_em") -> Agreement:
    return Agreement(other=other, n=60, share=0.8, kappa=kappa, both=20, neither=28, only_judge=6, only_other=6)


def printed(*cards: JudgeCard) -> str:
    return print_of(judges(board(row()).model_copy(update={"judges": list(cards)})), 60)


def test_a_row_has_the_figures_of_its_card() -> None:
    text = printed(card(split_share=0.125, own_sd=0.07, agreements=[agreement(0.583), agreement(0.25, "human")]))
    for figure in (
        "openai:gpt-x",
        "60/60",
        "0.62",
        "0.07",
        "12%",
        "80% (0.58)",
        "80% (0.25) of 60",
        "12,345",
        "0.0421",
    ):
        assert figure in text


def test_without_judges_nothing_is_printed() -> None:
    assert printed() == ""


def test_what_is_unknown_is_no_zero() -> None:
    text = printed(card(mean=None, judged=30, partly=12, input_tokens=None, usd=None))
    assert "unknown" in text
    assert "the mean is withheld: 30 of 60 answers were judged, and 12 in part." in " ".join(text.split())


def test_each_weakness_has_a_sentence() -> None:
    assert list(judge_notes([card(agreements=[agreement(0.5)])])) == []
    (constant,) = judge_notes([card(constant=0.5)])
    assert "gives 0.5 to every answer" in constant
    (kin,) = judge_notes([card(same_family=["openai:gpt-4.1"]), card(same_family=["openai:gpt-4.1"])])
    assert "judges its own kind (openai:gpt-4.1)" in kin
    (chance,) = judge_notes([card(agreements=[agreement(-0.1, "human")])])
    assert "agrees with people no more than chance would" in chance
    (fake,) = judge_notes([card(judge="fake:", same_family=["fake:"])])
    assert "is no judge" in fake
