from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from arena.tracking.runs import PARAM_CHARS, parameters

SETTINGS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=600) | st.lists(st.text(max_size=200), max_size=5),
    lambda inner: st.dictionaries(st.text(min_size=1, max_size=200), inner, max_size=4),
    max_leaves=8,
)


def test_settings_are_flattened_and_what_is_not_set_is_left_out() -> None:
    found = parameters(
        {"llm": {"model": "fake:", "base_url": None}, "modes": ["dense", "hybrid"], "ids": [], "seed": 0}
    )
    assert found.short == {"llm.model": "fake:", "modes": "dense, hybrid", "seed": "0"}
    assert not found.long


def test_a_long_value_is_kept_whole_beside() -> None:
    prompt = "Answer the question. " * 500
    found = parameters({"prompt": prompt})
    assert found.long == {"parameters/prompt.txt": prompt}
    assert found.short["prompt"].startswith("Answer the question.")
    assert found.short["prompt"].endswith("(parameters/prompt.txt)")


def test_a_name_that_mlflow_refuses_is_mended() -> None:
    assert parameters({"retrieve?": {"ü": 1}}).short == {"retrieve_._": "1"}


@given(st.dictionaries(st.text(min_size=1, max_size=200), SETTINGS, max_size=4))
def test_nothing_is_ever_too_long(settings: dict[str, Any]) -> None:
    found = parameters(settings)
    assert all(0 < len(text) <= PARAM_CHARS for text in found.short.values())
    assert all(len(name) <= 250 for name in found.short)
    assert all(len(text) > PARAM_CHARS for text in found.long.values())
