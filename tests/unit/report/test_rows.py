from __future__ import annotations

from itertools import pairwise

from arena.leaderboard.guards import GuardFinding
from arena.report.sections.leaderboard import COLUMNS, columns_of, leaderboard_rows, narrowings
from tests.unit.leaderboard.boards import METRIC_NAMES, NOT_DEFINED, PATCHY, SOUND, board, row

ALWAYS = ["n", "recall", "F1", "tokens"]


def test_every_row_has_every_column() -> None:
    content = leaderboard_rows(board(row(), row("vanilla", "dense", failed=3, abstained=1)))
    assert content.headings[:5] == ("strategy", "mode", "n", "failed", "abstained")
    assert {len(cells) for cells in content.rows} == {len(content.headings)}
    assert content.rows[1][:5] == ("vanilla", "dense", "60", "3", "1")


def test_columns_that_no_cell_wants_are_left_out() -> None:
    bare = row()
    bare = bare.model_copy(update={"metrics": bare.metrics | {"answer_em": NOT_DEFINED}})
    headings = leaderboard_rows(board(bare)).headings
    assert not {"EM", "failed", "abstained"} & set(headings)
    assert "EM" in leaderboard_rows(board(bare, row("vanilla"))).headings


def test_the_order_of_dropping_is_explicit_and_ends_with_what_always_stays() -> None:
    turns = [column.drop for column in COLUMNS if column.drop is not None]
    assert sorted(turns) == list(range(1, len(turns) + 1))
    steps = [[column.heading for column in step] for step in narrowings(columns_of(board(row(abstained=1, usd=0.01))))]
    assert all(len(wide) == len(narrow) + 1 and set(narrow) < set(wide) for wide, narrow in pairwise(steps))
    assert steps[-1] == ALWAYS
    dropped = [(set(wide) - set(narrow)).pop() for wide, narrow in pairwise(steps)]
    assert dropped == [
        "precision",
        "recall@5",
        "contains",
        "MRR",
        "calls",
        "seconds",
        "full recall",
        "EM",
        "abstained",
        "USD",
    ]


def test_failures_are_never_dropped() -> None:
    *_, last = narrowings(columns_of(board(row(failed=1))))
    assert [column.heading for column in last] == ["n", "failed", "recall", "F1", "tokens"]


def test_a_broken_figure_has_the_bounds_under_the_mean() -> None:
    content = leaderboard_rows(board(row(metric=PATCHY)), broken=True)
    assert content.rows[0][content.headings.index("F1")] == "0.56 .49–.63\n[.54, .58]"


def test_namesakes_are_told_apart_by_what_differs() -> None:
    shallow, deep = row(params={"k": 3, "seed": 0}), row(params={"k": 10, "seed": 0, "reranker": "small"})
    content = leaderboard_rows(board(shallow, deep, row("vanilla")))
    assert (content.headings[:3], content.n_names) == (("strategy", "mode", "setting"), 3)
    assert [cells[2] for cells in content.rows] == ["k=3, reranker=None", "k=10, reranker=small", ""]
    models = leaderboard_rows(board(row(llm="openai:a"), row(llm="openai:b")))
    assert [cells[2] for cells in models.rows] == ["llm=openai:a", "llm=openai:b"]


def test_all_metrics_of_the_columns_exist() -> None:
    from arena.metrics import METRICS

    assert set(METRIC_NAMES) <= set(METRICS)
    headings = leaderboard_rows(board(row())).headings
    assert len(headings) == len(("strategy", "mode", "n", "tokens", "calls", "seconds")) + len(METRIC_NAMES)


def test_money_has_a_column_where_any_is_known_and_spent() -> None:
    content = leaderboard_rows(board(row(llm=None, usd=0.0), row("vanilla", usd=0.00012345), row("x", usd=None)))
    place = content.headings.index("USD")
    assert [cells[place] for cells in content.rows] == ["0", "0.000123", "–"]
    assert "USD" not in leaderboard_rows(board(row(usd=0.0), row(usd=None))).headings


def test_ranks_stand_beside_the_metric_they_rank_by() -> None:
    ranks = {"answer_f1": (1, 3), "retrieval_recall": (2, 2)}
    content = leaderboard_rows(board(row(ranks=ranks), row("oracle", "gold")))
    place = content.headings.index("F1 rank")
    assert content.headings[place - 1] == "F1"
    assert [cells[place] for cells in content.rows] == ["1–3", "–"]
    assert "recall rank" not in content.headings


def test_without_answers_cells_rank_by_recall() -> None:
    content = leaderboard_rows(board(row(ranks={"retrieval_recall": (1, 1)}), row(ranks={"retrieval_recall": (2, 2)})))
    place = content.headings.index("recall rank")
    assert [cells[place] for cells in content.rows] == ["1", "2"]


def test_an_invalid_metric_shows_no_figure() -> None:
    stuck = GuardFinding(guard="constant_metric", message="always 0.5", metric="answer_f1")
    content = leaderboard_rows(board(row().model_copy(update={"guards": [stuck]}), row("vanilla")))
    place = content.headings.index("F1")
    assert content.rows[0][place] == "invalid"
    assert content.rows[1][place].startswith("0.56")
    whole = stuck.model_copy(update={"metric": None})
    texts = leaderboard_rows(board(row().model_copy(update={"guards": [whole]}))).rows[0]
    assert texts.count("invalid") == len(METRIC_NAMES)


def test_judged_and_lexical_metrics_have_a_column_where_they_are() -> None:
    new = {"answer_accuracy": SOUND, "faithfulness": SOUND, "lexical_faithfulness": SOUND}
    judged = row().model_copy(update={"metrics": row().metrics | new})
    assert {"accuracy", "faithfulness", "lexical faith."} <= set(leaderboard_rows(board(judged)).headings)
