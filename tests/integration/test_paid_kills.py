"""A budget is kept through kills (-9) and Ctrl-C. `python -m tests.integration.paid_kills 20 1` does twenty."""

from __future__ import annotations

import signal

import pytest

from tests.integration.paid_kills import A_CALL, BUDGET, settle, spender


@pytest.mark.timeout(300)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_what_a_killed_run_had_paid_is_spent_to_the_token(number: signal.Signals) -> None:
    """Each session gets so many replies and is ended when it has read them all: nothing is lost."""
    allowed = (5, 2)
    with spender() as run:
        for replies in allowed:
            with run.begin(replies) as process:
                run.books.wait_for(lambda: run.books.of_session(taken=True) >= replies, process)  # noqa: B023
                assert run.end(process, number)
            assert sum(one.attempt.fault is None for one in run.store.paid()) == len(run.books.handed)
        assert len(run.books.handed) == sum(allowed)
        message = run.spend_all()
        found = settle(run, len(allowed))
    assert found["lost_in_flight"] == 0
    assert found["tally_tokens"] == found["spent_tokens"]
    assert f"the run has spent {found['spent_tokens']:,} tokens" in message
    assert found["spent_tokens"] < BUDGET + 8 * A_CALL
    assert bool(found["given_up_and_entered"]) == (number == signal.SIGINT)
