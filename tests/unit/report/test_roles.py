from __future__ import annotations

from dataclasses import replace

import pytest

from tests.samples import call, cell
from tests.unit.leaderboard.contests import board_of, run_of


def test_each_role_has_its_own_calls_tokens_and_seconds() -> None:
    asked = (
        call(role="grade", input_tokens=10, output_tokens=1, service_seconds=0.5),
        call(role="grade", input_tokens=20, output_tokens=1, service_seconds=0.5),
        call(role="generate", input_tokens=100, output_tokens=8, service_seconds=2.0),
    )
    records = [replace(one, calls=asked) for one in run_of(cell(), lambda place: True)]
    grade, generate = board_of(*records).cells[0].roles
    assert (grade.role, grade.calls, grade.calls_per_question) == ("grade", 120, 2.0)
    assert (grade.input_tokens_per_question, grade.output_tokens_per_question) == (30.0, 2.0)
    assert grade.mean_service_seconds == pytest.approx(1.0)
    assert (generate.role, generate.tokens_per_question) == ("generate", 108.0)
    assert generate.usd_per_question is None


def test_unknown_tokens_of_one_role_leave_the_others_known() -> None:
    asked = (call(role="grade", input_tokens=None), call(role="generate", input_tokens=100, output_tokens=8))
    records = [replace(one, calls=asked) for one in run_of(cell(), lambda place: True)]
    grade, generate = board_of(*records).cells[0].roles
    assert grade.tokens_per_question is None
    assert generate.tokens_per_question == 108.0


def test_roles_add_up_to_the_cell() -> None:
    asked = (call(role="grade"), call(role="generate"))
    of = board_of(*[replace(one, calls=asked) for one in run_of(cell(), lambda place: True)]).cells[0]
    assert sum(one.calls_per_question or 0 for one in of.roles) == of.llm_calls_per_question
    assert sum(one.tokens_per_question or 0 for one in of.roles) == of.tokens


def test_the_quantiles_of_latency_go_from_least_to_greatest() -> None:
    records = [
        replace(one, wall_seconds=float(place)) for place, one in enumerate(run_of(cell(), lambda place: True), start=1)
    ]
    of = board_of(*records).cells[0]
    assert len(of.latency_quantiles_seconds) == 21
    assert (of.latency_quantiles_seconds[0], of.latency_quantiles_seconds[-1]) == (1.0, 60.0)
    assert of.latency_quantiles_seconds[10] == of.latency_seconds.p50
    assert of.latency_quantiles_seconds[19] == of.latency_seconds.p95
