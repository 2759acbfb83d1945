from __future__ import annotations

from arena.leaderboard.controllers import (
    ControllerScores,
    GraderScores,
    RewriteScores,
    RouteConfusion,
    RouteCount,
    summarise_controller_scores,
)
from arena.metrics.controllers import ControllerCounts, GraderCounts, RetrievalCounts, Rewrite, RouteCounts
from arena.report.sections.controllers import controller_score_lines
from arena.types import Cell

ROUTER = Cell("adaptive", "hybrid", "fake:", {"policy": "classifier"})
ROWS = [
    (Cell("closed_book", "none", "fake:"), ControllerCounts(routes=RouteCounts(right={"q1": True, "q2": False}))),
    (Cell("vanilla", "hybrid", "fake:"), ControllerCounts(routes=RouteCounts(right={"q1": True, "q2": True}))),
    (Cell("ircot", "hybrid", "fake:"), ControllerCounts(routes=RouteCounts(right={"q1": True, "q2": True}))),
]
ROUTED = ControllerCounts(
    routes=RouteCounts(taken={"q1": "B", "q2": "B", "q3": "C"}, needed={"q1": "C", "q2": "B", "q3": "B"})
)


def test_a_cell_that_decides_nothing_has_no_scores() -> None:
    retrieving = ControllerCounts(retrievals=RetrievalCounts(retrievals=10, wasted=2))
    assert summarise_controller_scores(Cell("vanilla", "hybrid", "fake:"), retrieving, ROWS) is None


def test_ways_are_held_against_hops_and_against_the_rows_of_one_way() -> None:
    scores = summarise_controller_scores(ROUTER, ROUTED, [*ROWS, (ROUTER, ROUTED)])
    assert scores is not None
    assert scores.against_hops == RouteConfusion(
        n=3,
        agreement=1 / 3,
        n_cheaper=1,
        n_dearer=1,
        counts=[
            RouteCount(needed="B", taken="B", n=1),
            RouteCount(needed="B", taken="C", n=1),
            RouteCount(needed="C", taken="B", n=1),
        ],
    )
    assert scores.against_oracle == RouteConfusion(
        n=2,
        agreement=0.5,
        n_cheaper=0,
        n_dearer=1,
        counts=[RouteCount(needed="A", taken="B", n=1), RouteCount(needed="B", taken="B", n=1)],
    )


def test_without_rows_of_one_way_there_is_no_oracle() -> None:
    scores = summarise_controller_scores(ROUTER, ROUTED, [(ROUTER, ROUTED)])
    assert scores is not None
    assert scores.against_oracle is None


def test_a_row_of_one_way_decides_nothing() -> None:
    always = Cell("adaptive", "hybrid", "fake:", {"policy": "always_b"})
    assert summarise_controller_scores(always, ROUTED, ROWS) is None


def test_graders_and_rewrites_are_summed_up() -> None:
    tally = ControllerCounts(
        graders={"evaluate": GraderCounts(judged=10, gold=4, approved=3, approved_gold=2, undecided=1)},
        retrievals=RetrievalCounts(9, 5, 1, 3, [Rewrite(0.5, 1.0, 0.5), Rewrite(0.0, 0.5, 0.25)]),
    )
    scores = summarise_controller_scores(Cell("corrective", "hybrid", "fake:"), tally)
    assert scores == ControllerScores(
        graders=[
            GraderScores(
                node="evaluate",
                n_judged=10,
                n_gold=4,
                n_approved=3,
                n_approved_gold=2,
                n_undecided=1,
                precision=2 / 3,
                recall=0.5,
                base_rate=0.4,
            )
        ],
        against_hops=None,
        against_oracle=None,
        rewriting=RewriteScores(n_questions=2, recall_before=0.25, recall_after=0.75, recall_alone=0.375, gain=0.5),
        n_retrievals=9,
        n_wasted=5,
        n_needless=1,
    )
    assert scores is not None
    assert ControllerScores.model_validate_json(scores.model_dump_json()) == scores
    assert list(controller_score_lines(scores)) == [
        "evaluate: precision 0.67 (approving all: 0.40), recall 0.50; 10 verdicts, 4 on gold, 1 undecided.",
        "asking in other words: recall 0.25 before, 0.75 after (gain 0.50), 0.38 of the last query alone; 2 questions.",
        "5 of 9 retrievals brought no new gold document, 1 of them when all was there already.",
    ]


def test_a_router_is_read_as_too_cheap_and_too_dear() -> None:
    scores = summarise_controller_scores(ROUTER, ROUTED, ROWS)
    assert scores is not None
    assert list(controller_score_lines(scores)) == [
        "routing against hops: right for 0.33 of 3, too cheap for 1, too dear for 1 (B sent C 1, C sent B 1).",
        "routing against the cheapest way that answers right: right for 0.50 of 2, too cheap for 0, too dear for 1 "
        "(A sent B 1).",
    ]


def test_a_grader_that_approves_nothing_has_no_precision() -> None:
    tally = ControllerCounts(graders={"evaluate": GraderCounts(judged=2)})
    scores = summarise_controller_scores(Cell("corrective", "hybrid", "fake:"), tally)
    assert scores is not None
    assert next(controller_score_lines(scores)) == (
        "evaluate: precision – (approving all: 0.00), recall –; 2 verdicts, 0 on gold."
    )
