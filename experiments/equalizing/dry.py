"""`arena equalize --dry-run`: what the pilots and the comparison may take at most, before anything is paid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from arena.errors import ConfigError
from arena.report.figures import UNDEFINED, usd_text
from arena.report.text import Part, Rows, print_parts
from experiments.equalizing.contestant import Contestant, start_list
from experiments.equalizing.equalize import check_request, evaluated_config, folder_of
from experiments.equalizing.equalized import Request
from experiments.equalizing.pilots import MAX_PILOTS, pilot_sample
from experiments.equalizing.unit import Unit
from experiments.run.dry_run import dry_run
from experiments.run.expectation import Expectation, total
from experiments.run.lineup import line_up
from experiments.terminal.progress import Reporter
from experiments.terminal.tables import Console, as_json


@dataclass(frozen=True, slots=True)
class Bound:
    """What may be asked of one contestant in one part of the work, at most. None = unknown."""

    contestant: str
    part: str
    runs: int
    questions: int
    calls: float | None
    tokens: float | None
    usd: float | None


@dataclass(frozen=True, slots=True)
class ExpectedBudget:
    """The bounds, and the target they were worked out for (None: unknown)."""

    equal_budget_id: str
    unit: Unit
    target: float | None
    bounds: tuple[Bound, ...]


def expect_budget(request: Request, reporter: Reporter) -> ExpectedBudget:
    """Work it out from past runs, or from a few questions with the fake model. Makes no folder.

    Every pilot is taken to spend the target, and every contestant to need all the pilots it may have.
    """
    check_request(request)
    config = evaluated_config(request.config)
    lists = start_list(config)
    folder = folder_of(request)
    folder.check()
    pilot = config.model_copy(update={"sample": pilot_sample(config, request.pilot), "judge": None})
    entries = tuple(dict.fromkeys(one.entry for one in lists.contestants))
    dry = dry_run(pilot.model_copy(update={"strategies": entries}), reporter)
    own = {one: _expected(one, dry.cells) for one in lists.contestants}
    known = [_per_question(one, request.unit) for one in own.values()]
    target = request.target or max((one for one in known if one is not None), default=None)
    if request.unit == "usd" and None in known:
        raise ConfigError(
            "no price is known for the model: give it one under `prices`, or choose another --per-question"
        )
    n_questions = max(len(entry.questions) for entry in line_up(config).entries if entry.spec.needs_model)
    bounds = [
        bound
        for contestant, expected in own.items()
        for bound in _bounds(contestant, expected, request, target, n_questions)
    ]
    return ExpectedBudget(folder.path.name, request.unit, target, tuple(bounds))


def print_expected(expected: ExpectedBudget, console: Console, *, json: bool) -> None:
    """Print the bounds, or one JSON object."""
    if json:
        console.file.write(as_json(_fields(expected)) + "\n")
    else:
        print_parts(list(_parts(expected)), console)


def _bounds(
    contestant: Contestant, expected: Expectation, request: Request, target: float | None, n_questions: int
) -> Iterator[Bound]:
    own = _per_question(expected, request.unit)
    factor = max(target / own, 1.0) if own and target is not None else None
    yield _bound(contestant, "pilots", MAX_PILOTS, expected.n_questions, expected, factor)
    yield _bound(contestant, "comparison", 1 + request.corrections, n_questions, expected, factor)
    yield _bound(contestant, "as configured", 1, n_questions, expected, 1.0)


def _bound(
    contestant: Contestant, part: str, runs: int, questions: int, expected: Expectation, factor: float | None
) -> Bound:
    def at_most(amount: float | None) -> float | None:
        if amount is None or factor is None or not expected.n_questions:
            return None
        return amount / expected.n_questions * factor * runs * questions

    tokens = total([expected.input_tokens, expected.output_tokens])
    return Bound(
        contestant.name, part, runs, questions, at_most(expected.calls), at_most(tokens), at_most(expected.usd)
    )


def _expected(contestant: Contestant, cells: tuple[Expectation, ...]) -> Expectation:
    wanted = contestant.variant.settings.items()
    return next(
        one
        for one in cells
        if (one.cell.strategy, one.cell.retrieval_mode) == (contestant.variant.spec.name, contestant.mode)
        and wanted <= one.cell.params.items()
    )


def _per_question(expected: Expectation, unit: Unit) -> float | None:
    amounts: Mapping[Unit, float | None] = {
        "calls": expected.calls,
        "tokens": total([expected.input_tokens, expected.output_tokens]),
        "usd": expected.usd,
    }
    amount = amounts[unit]
    return None if amount is None or not expected.n_questions else amount / expected.n_questions


def _parts(expected: ExpectedBudget) -> Iterator[Part]:
    rows = [
        (one.contestant, one.part, str(one.runs), str(one.questions), _count(one.calls), _count(one.tokens),
         usd_text(one.usd))
        for one in expected.bounds
    ]  # fmt: skip
    yield Rows(("contestant", "part", "runs", "questions", "calls", "tokens", "USD"), tuple(rows), 2)
    sums = [total(getattr(one, name) for one in expected.bounds) for name in ("calls", "tokens", "usd")]
    yield (
        f"At most, if every pilot spends the target of {_count(expected.target)} {expected.unit} per question and all "
        f"{MAX_PILOTS} are needed: {_count(sums[0])} calls, {_count(sums[1])} tokens, USD {usd_text(sums[2])}. Judging "
        "and controls come on top."
    )
    yield "Replies that were paid for are kept and never paid for twice. Nothing was spent, and no folder was made."


def _fields(expected: ExpectedBudget) -> dict[str, Any]:
    return asdict(expected)


def _count(amount: float | None) -> str:
    return UNDEFINED if amount is None else f"{amount:,.0f}"
