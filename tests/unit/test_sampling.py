from __future__ import annotations

from collections import Counter
from random import Random
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.config import RunConfig, SampleConfig
from arena.errors import ConfigError
from arena.sampling import DEV_SHARE, in_part, named, part_of, require_dev, sample
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


def test_proportional_keeps_the_mix() -> None:
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


@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["multi_hop", "summary"]), st.integers(1, 4)), st.integers(1, 9), min_size=1
    ),
    st.integers(1, 60),
    st.sampled_from(["proportional", "even"]),
)
def test_a_larger_limit_keeps_all_of_a_smaller_one(
    counts: dict[tuple[Kind, int], int], limit: int, balance: Balance
) -> None:
    asked = questions(counts)
    smaller = sample(asked, limit, balance=balance, seed=3)
    assert set(smaller) <= set(sample(asked, limit + 1, balance=balance, seed=3))


def test_no_limit_is_everything() -> None:
    asked = questions(MUSIQUE)
    assert sample(asked, None, balance="even", seed=0) == tuple(asked)


def test_a_question_stays_in_its_part_whatever_else_is_drawn() -> None:
    assert [part_of(name) for name in ("q1", "q2", "q4", "q5")] == ["eval", "eval", "dev", "eval"]
    asked = questions(MUSIQUE)
    dev, eval_part = in_part(asked, "dev"), in_part(asked, "eval")
    assert in_part(asked, "all") == tuple(asked)
    assert sorted((*dev, *eval_part), key=asked.index) == asked
    assert {part_of(one.question_id) for one in dev} == {"dev"}


def test_the_dev_part_is_about_its_share() -> None:
    parts = Counter(part_of(f"2hop__{number}_{number * 7}") for number in range(4_000))
    assert abs(parts["dev"] / 4_000 - DEV_SHARE) < 0.02


def test_named_questions_come_in_the_order_of_the_data() -> None:
    asked = questions(MUSIQUE)
    ids = [asked[7].question_id, asked[2].question_id]
    assert named(asked, ids) == (asked[2], asked[7])


def test_a_name_that_no_question_has_is_refused_with_the_nearest_that_one_has() -> None:
    with pytest.raises(ConfigError, match=r"names 'multi_hop-2-00', .* the nearest is 'multi_hop-2-0'"):
        named(questions(MUSIQUE), ["multi_hop-2-1", "multi_hop-2-00"])
    with pytest.raises(ConfigError, match=r"names 'x', and no question of the dataset has that id$"):
        named([], ["x"])


def configured(**values: object) -> RunConfig:
    return RunConfig(sample=SampleConfig.model_validate(values))


def test_tuning_sees_the_dev_part_only() -> None:
    require_dev(configured(part="dev", limit=5))
    require_dev(configured(ids=["q4"]))
    for part in ("all", "eval"):
        with pytest.raises(ConfigError, match=f"sample.part is '{part}'"):
            require_dev(configured(part=part))
    with pytest.raises(ConfigError, match=r"sample\.ids names 'q1', which belongs to the part eval"):
        require_dev(configured(ids=["q4", "q1"]))
