from __future__ import annotations

from math import log2
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.metrics.retrieval import (
    average_precision,
    hit_at_k,
    ndcg_at_k,
    precision_at_k,
    recall,
    recall_at_k,
    reciprocal_rank,
)

IDS = st.lists(st.sampled_from("abcdef"), max_size=8)
CUTS = st.integers(-2, 9)
AT_K = (recall_at_k, precision_at_k, hit_at_k, ndcg_at_k)
WHOLE = (reciprocal_rank, average_precision)


# Gold at the ranks 2 and 4 where the best ranking has it at 1 and 2.
IDEAL = 1.0 + 1.0 / log2(3)
AT_TWO = (1.0 / log2(3)) / IDEAL
AT_FOUR = (1.0 / log2(3) + 1.0 / log2(5)) / IDEAL


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (1, (0.0, 0.0, 0.0, 0.0)),
        (2, (0.5, 0.5, 1.0, AT_TWO)),
        (4, (1.0, 0.5, 1.0, AT_FOUR)),
        (8, (1.0, 0.25, 1.0, AT_FOUR)),
        (0, (0.0, 0.0, 0.0, 0.0)),
        (-3, (0.0, 0.0, 0.0, 0.0)),
    ],
)
def test_cuts_by_hand(k: int, expected: tuple[float, ...]) -> None:
    ranked, gold = ["x", "a", "y", "b"], ["a", "b"]
    assert [metric(ranked, gold, k) for metric in AT_K] == pytest.approx(expected, abs=1e-15)


def test_half_of_the_gold_is_recall_one_half_and_a_hit() -> None:
    assert (recall_at_k(["a"], ["a", "b"], 5), hit_at_k(["a"], ["a", "b"], 5)) == (0.5, 1.0)


def test_a_cut_shorter_than_the_gold_can_be_perfect() -> None:
    assert ndcg_at_k(["a", "b"], ["a", "b", "c"], 2) == 1.0
    assert recall_at_k(["a", "b"], ["a", "b", "c"], 2) == 2 / 3


def test_a_repeated_document_takes_one_place() -> None:
    ranked = ["x", "x", "x", "a", "a"]
    assert recall_at_k(ranked, ["a"], 2) == 1.0
    assert precision_at_k(ranked, ["a"], 2) == 0.5
    assert ndcg_at_k(ranked, ["a"], 2) == pytest.approx(1.0 / log2(3))
    assert [metric(ranked, ["a"]) for metric in WHOLE] == [0.5, 0.5]


def test_mean_reciprocal_rank_of_ranks_one_three_and_none() -> None:
    found = [reciprocal_rank(ranked, ["g"]) for ranked in (["g"], ["x", "y", "g"], ["x"])]
    assert found == [1.0, 1 / 3, 0.0]
    assert sum(value or 0.0 for value in found) / 3 == pytest.approx(0.444, abs=5e-4)


def test_average_precision_counts_gold_that_was_not_ranked() -> None:
    assert average_precision(["a", "x", "b"], ["a", "b", "c"]) == pytest.approx((1 + 2 / 3 + 0) / 3)


def test_without_gold_nothing_is_defined() -> None:
    assert [metric(["a"], [], 0) for metric in AT_K] == [None] * 4
    assert [metric(["a"], []) for metric in WHOLE] == [None] * 2


@given(IDS, IDS.filter(bool), CUTS)
def test_a_deeper_cut_never_finds_less(ranked: list[str], gold: list[str], k: int) -> None:
    here, deeper = recall_at_k(ranked, gold, k), recall_at_k(ranked, gold, k + 1)
    assert here is not None
    assert deeper is not None
    assert here <= deeper <= 1.0
    assert hit_at_k(ranked, gold, k) == float(here > 0)


@given(IDS, IDS.filter(bool), CUTS)
def test_all_stay_in_the_unit_interval(ranked: list[str], gold: list[str], k: int) -> None:
    scores = [*(metric(ranked, gold, k) for metric in AT_K), *(metric(ranked, gold) for metric in WHOLE)]
    assert all(score is not None and 0.0 <= score <= 1.0 for score in scores)


@given(IDS, IDS.filter(bool))
def test_a_cut_beyond_the_ranking_is_the_set(ranked: list[str], gold: list[str]) -> None:
    assert recall_at_k(ranked, gold, len(ranked)) == recall(ranked, gold)


@given(IDS.filter(bool))
def test_a_ranking_of_gold_alone_is_perfect(gold: list[str]) -> None:
    assert [metric(gold, gold) for metric in WHOLE] == [1.0, 1.0]
    assert ndcg_at_k(gold, gold, 3) == 1.0


def test_a_thousand_random_rankings_score_as_in_ir_measures() -> None:
    from ir_measures import AP, RR, P, Qrel, R, ScoredDoc, Success, iter_calc, nDCG

    rng = Random(13)
    pool = [f"d{number}" for number in range(40)]
    gold = {f"q{number}": rng.sample(pool, rng.randint(1, 6)) for number in range(1_000)}
    ranked = {query: rng.choices(pool, k=rng.choice([0, 1, 3, 10, 25])) for query in gold}
    assert sum(not ids for ids in ranked.values()) > 100
    assert sum(len(set(ids)) < len(ids) for ids in ranked.values()) > 100

    ours: dict[tuple[str, str], float | None] = {}
    for query, ids in ranked.items():
        for k in (5, 10):
            ours[query, f"R@{k}"] = recall_at_k(ids, gold[query], k)
            ours[query, f"P@{k}"] = precision_at_k(ids, gold[query], k)
            ours[query, f"Success@{k}"] = hit_at_k(ids, gold[query], k)
            ours[query, f"nDCG@{k}"] = ndcg_at_k(ids, gold[query], k)
        ours[query, "RR"] = reciprocal_rank(ids, gold[query])
        ours[query, "AP"] = average_precision(ids, gold[query])

    measures = [*(measure @ k for measure in (R, P, Success, nDCG) for k in (5, 10)), RR, AP]
    qrels = [Qrel(query, doc_id, 1) for query, ids in gold.items() for doc_id in ids]
    run = [
        ScoredDoc(query, doc_id, float(-rank))
        for query, ids in ranked.items()
        for rank, doc_id in enumerate(dict.fromkeys(ids))
    ]
    theirs = {(score.query_id, str(score.measure)): score.value for score in iter_calc(measures, qrels, run)}
    assert theirs.keys() == ours.keys()
    assert ours == pytest.approx(theirs, abs=1e-9)
