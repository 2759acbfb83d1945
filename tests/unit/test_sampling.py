from __future__ import annotations

from collections import Counter
from random import Random
from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from arena.sampling import sample
from arena.types import Kind, Question

Balance = Literal["proportional", "even"]


def questions(counts: dict[tuple[Kind, int], int]) -> list[Question]:
    return [
        Question(f"{kind}-{hops}-{number}", "?", kind, hops)
        for (kind, hops), count in counts.items()
        for number in range(count)
    ]


MUSIQUE: dict[tuple[Kind, int], int] = {("multi_hop", 2): 87, ("multi_hop", 3): 19, ("multi_hop", 4): 14}


def hops(chosen: tuple[Question, ...]) -> Counter[int | None]:
    return Counter(question.hops for question in chosen)


def test_proportional_keeps_the_mix_by_largest_remainder() -> None:
    # 12 * 87/120 = 8.7, 12 * 19/120 = 1.9, 12 * 14/120 = 1.4
    assert hops(sample(questions(MUSIQUE), 12, balance="proportional", seed=0)) == {2: 9, 3: 2, 4: 1}


def test_even_gives_each_stratum_the_same_until_it_runs_out() -> None:
    assert hops(sample(questions(MUSIQUE), 12, balance="even", seed=0)) == {2: 4, 3: 4, 4: 4}
    assert hops(sample(questions(MUSIQUE), 60, balance="even", seed=0)) == {2: 27, 3: 19, 4: 14}


def test_hops_of_a_question_that_has_no_answer_do_not_divide_its_stratum() -> None:
    asked = questions({("multi_hop", 2): 9, ("single_hop", 1): 9, ("unanswerable", 1): 9, ("unanswerable", 3): 9})
    kinds = Counter(question.kind for question in sample(asked, 9, balance="even", seed=0))
    assert kinds == {"multi_hop": 3, "single_hop": 3, "unanswerable": 3}


def test_another_seed_draws_other_questions() -> None:
    asked = questions(MUSIQUE)
    assert sample(asked, 12, balance="even", seed=0) != sample(asked, 12, balance="even", seed=1)


@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["multi_hop", "summary"]), st.integers(1, 4)), st.integers(1, 9), min_size=1
    ),
    st.integers(1, 80),
    st.sampled_from(["proportional", "even"]),
    st.randoms(use_true_random=False),
)
def test_exactly_the_limit_in_given_order_whatever_the_order_of_the_file(
    counts: dict[tuple[Kind, int], int], limit: int, balance: Balance, shuffler: Random
) -> None:
    asked = questions(counts)
    chosen = sample(asked, limit, balance=balance, seed=3)
    assert len(chosen) == min(limit, len(asked))
    assert list(chosen) == [question for question in asked if question in chosen]
    shuffled = list(asked)
    shuffler.shuffle(shuffled)
    assert set(sample(shuffled, limit, balance=balance, seed=3)) == set(chosen)


def test_no_limit_is_everything() -> None:
    asked = questions(MUSIQUE)
    assert sample(asked, None, balance="even", seed=0) == tuple(asked)
