from __future__ import annotations

import pytest
from pydantic import ValidationError

from strategies import find_variant
from strategies.self_rag.params import SelfRagParams


def test_the_defaults_are_the_papers() -> None:
    params = SelfRagParams()
    assert (params.w_rel, params.w_sup, params.w_use, params.delta) == (1.0, 1.0, 0.5, 0.2)
    assert (params.beam_width, params.max_depth, params.accumulate) == (2, 6, "mean")


def test_auto_is_long_for_summaries_and_one_segment_of_one_text_else() -> None:
    params = SelfRagParams()
    assert (params.mode_for("short"), params.depth_for("short"), params.width_for("short")) == ("short", 1, 1)
    assert (params.mode_for("summary"), params.depth_for("summary"), params.width_for("summary")) == ("long", 6, 2)


@pytest.mark.parametrize("written", ["options=true,false", "options=[true, false]"])
def test_options_are_read_from_the_command_line(written: str) -> None:
    params = find_variant(f"self_rag:mode=closed_set:{written}").params
    assert isinstance(params, SelfRagParams)
    assert params.options == ("true", "false")


@pytest.mark.parametrize(
    "given",
    [{"mode": "closed_set"}, {"options": ("a", "b")}]
    + [{"mode": "closed_set", "options": options} for options in (("a",), ("a", "A"), ("a", ""))],
)
def test_options_and_closed_set_go_together(given: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="options"):
        SelfRagParams.model_validate(given)


@pytest.mark.parametrize("wrong", [{"delta": 1.1}, {"beam_width": 0}, {"max_depth": 0}, {"w_use": -1}, {"beams": 2}])
def test_what_makes_no_sense_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        SelfRagParams.model_validate(wrong)


def test_every_setting_is_described() -> None:
    assert all(field.description for field in SelfRagParams.model_fields.values())
