"""A verdict in a few lines."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from experiments.gating.figures import change_text, outcome_text, value_text
from experiments.gating.verdict import Check, GateVerdict

_NAMED = 3


def headline(verdict: GateVerdict) -> str:
    """Whether it passed, how many checks came out how, and the first of those that failed it."""
    stopping = verdict.stopping
    counts = (
        f"{verdict.count('pass')} passed, {verdict.count('inconclusive')} inconclusive, {verdict.count('fail')} failed"
    )
    if not stopping:
        return f"Gate passed: of {len(verdict.checks)} checks {counts}."
    named = ", ".join(_named(check) for check in stopping[:_NAMED])
    more = f" and {len(stopping) - _NAMED} more" if len(stopping) > _NAMED else ""
    return f"Gate FAILED by {named}{more}. Of {len(verdict.checks)} checks {counts}."


def reasons(verdict: GateVerdict) -> Iterator[str]:
    """One line per reason, and where it holds: of all checks that did not pass, those that stop the run first."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for check in by_outcome(verdict):
        if check.outcome != "pass":
            grouped.setdefault((outcome_text(check, stops=verdict.stops(check)), check.why), []).append(check.name)
    for (outcome, why), names in grouped.items():
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield f"{outcome}: {why} ({', '.join(names[:_NAMED])}{more})."


def by_outcome(verdict: GateVerdict) -> list[Check]:
    """The checks: first those that stop the run, then those that warn, then those that passed."""
    turns = ("fail", "inconclusive", "pass")
    return sorted(verdict.checks, key=lambda check: (not verdict.stops(check), turns.index(check.outcome)))


def command(verdict: GateVerdict) -> str:
    """What makes this verdict again."""
    options = (("--baseline", verdict.baseline), ("--policy", verdict.policy_file))
    given = [part for name, path in options if path is not None for part in (name, str(path))]
    return shlex.join(["arena", "gate", str(verdict.run), *given])


def _named(check: Check) -> str:
    if check.change is not None:
        return f"{check.name} ({change_text(check.metric, check.change)})"
    return f"{check.name} ({value_text(check.metric, check.new)})" if check.new is not None else check.name
