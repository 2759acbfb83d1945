from __future__ import annotations

from dataclasses import replace

from arena.report.question import uses_by_role
from arena.scoring import usage_of
from arena.types import CallAttempt
from tests.samples import answered, call


def test_calls_are_added_up_by_role_in_the_order_of_asking() -> None:
    attempts = (CallAttempt(None, None, service_seconds=1.0, fault="HTTP 500"), CallAttempt(10, 2, service_seconds=0.5))
    calls = (
        call(role="grade", model="a:x"),
        call(role="generate", attempts=attempts, backoff_seconds=2.0),
        call(role="grade", model="a:y", finish_reason="length", repair=True, replayed=True),
    )
    record = replace(answered("q1", "x"), calls=calls)
    grade, generate = uses_by_role(record, usage_of(record).roles)
    assert (grade.role, grade.models, grade.spent.calls, grade.truncated) == ("grade", ("a:x", "a:y"), 2, 1)
    assert (grade.spent.input_tokens.value, grade.account.repairs, grade.account.replayed.calls) == (200, 1, 1)
    assert (generate.retries, generate.waiting_seconds, generate.account.service_seconds) == (1, 2.0, 1.5)
    assert generate.spent.input_tokens.value is None


def test_a_reply_cut_where_the_asker_wanted_it_is_not_truncated() -> None:
    record = replace(answered("q1", "x"), calls=(call(finish_reason="length", bounded=True),))
    assert uses_by_role(record, usage_of(record).roles)[0].truncated == 0


def test_without_calls_there_are_no_roles() -> None:
    record = replace(answered("q1", "x"), calls=())
    assert uses_by_role(record, usage_of(record).roles) == ()
