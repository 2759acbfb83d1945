from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.engines.ranking import RESOLUTION, RRF_K, Fusion, Lane, Ranked, fused, in_order
from tests.brute_force import distributions

DENSE: Lane = (Ranked(7, 0.9), Ranked(3, 0.8), Ranked(5, 0.1))
SPARSE: Lane = (Ranked(3, 11.0), Ranked(9, 2.0))
LANES = st.lists(st.floats(0.01, 50), max_size=30).map(lambda s: in_order(Ranked(i, x) for i, x in enumerate(s)))


def positions(lane: Lane) -> list[int]:
    return [one.position for one in lane]


def scores(lane: Lane) -> list[float]:
    return [one.score for one in lane]


def test_reciprocal_ranks_by_hand() -> None:
    best = fused((DENSE, SPARSE), Fusion())
    assert positions(best) == [3, 7, 9, 5]
    assert scores(best) == pytest.approx([1 / 61 + 1 / 60, 1 / 60, 1 / 61, 1 / 62], rel=1e-6)


def test_weights_by_hand() -> None:
    best = fused((DENSE, SPARSE), Fusion(rrf_k=10, weights=(2.0, 1.0)))
    assert dict(best) == pytest.approx({7: 1 / 9.5, 3: 1 / 10 + 1 / 10, 5: 1 / 10.5, 9: 1 / 11}, rel=1e-6)


def test_distributions_by_hand() -> None:
    """The dense lane has mean 0.6 and sample deviation sqrt(0.19); the sparse one 6.5 and sqrt(40.5)."""
    best = fused((DENSE, SPARSE), Fusion("dbsf"))
    wide, far = 6 * 0.19**0.5, 6 * 40.5**0.5
    assert dict(best) == pytest.approx(
        {7: 0.5 + 0.3 / wide, 3: 1.0 + 0.2 / wide + 4.5 / far, 5: 0.5 - 0.5 / wide, 9: 0.5 - 4.5 / far}, rel=1e-6
    )


def test_a_lane_of_one_score_is_worth_a_half() -> None:
    level = tuple(Ranked(i, 1 / 3) for i in range(7))
    assert scores(fused((level, ()), Fusion("dbsf"))) == [0.5] * 7
    assert scores(fused((level[:1], ()), Fusion("dbsf"))) == [0.5]


def test_ties_go_by_position() -> None:
    mirrored = fused(((Ranked(8, 3.0), Ranked(2, 1.0)), (Ranked(2, 3.0), Ranked(8, 1.0))), Fusion())
    assert positions(mirrored) == [2, 8]
    assert mirrored[0].score == mirrored[1].score


@given(LANES, LANES)
def test_distributions_agree_with_numpy(dense: Lane, sparse: Lane) -> None:
    best = fused((dense, sparse), Fusion("dbsf"))
    expected = distributions([dict(dense), dict(sparse)])
    assert dict(best) == pytest.approx(expected, abs=1e-4)


@given(LANES, LANES, st.sampled_from([Fusion(), Fusion(weights=(0.3, 4.0)), Fusion("dbsf")]))
def test_a_fusion_holds_everything_once(dense: Lane, sparse: Lane, how: Fusion) -> None:
    best = fused((dense, sparse), how)
    assert sorted(positions(best)) == sorted(set(positions(dense)) | set(positions(sparse)))
    assert all(score > 0 for score in scores(best))


def test_at_the_defaults_rounding_never_decides() -> None:
    """No two sums that differ on paper are so close that float32 could take them for one, or one for two."""
    shares = [1 / (RRF_K + rank) for rank in range(50)]
    sums = sorted({one + other for one in shares for other in [0.0, *shares]})
    gaps = np.array([high - low for low, high in pairwise(sums)])
    noise = RESOLUTION * sums[-1]
    unsure = gaps[(gaps > noise - 8e-9) & (gaps < noise + 8e-9)]
    assert not len(unsure)
