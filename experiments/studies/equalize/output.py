"""An equal-budget comparison on a terminal or as JSON, and `--dry-run`: what it may take at most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rich.text import Text

from arena.errors import ConfigError
from arena.report.figures import count_text, metric_text, usd_text
from arena.report.text import Part, Rows, print_parts
from arena.store import FINISHED
from arena.types import sum_known
from experiments.execution.contestants import read_entries
from experiments.execution.dry_run import dry_run
from experiments.execution.expectation import Expectation
from experiments.studies.compare.table import compared_fields, print_compared
from experiments.studies.equalize.contestants import EqualizedEntry, Unit, amount_text, shown, spent, start_list
from experiments.studies.equalize.equalize import (
    Equalized,
    EqualizeRequest,
    check_request,
    equalized_fields,
    evaluated_config,
    folder_of,
    own_cell,
)
from experiments.studies.equalize.runs import MAX_PILOTS, Settled, pilot_sample
from experiments.studies.equalize.search import GIVEN
from experiments.studies.folder import EQUAL_BUDGET
from experiments.terminal.progress import Reporter
from experiments.terminal.tables import Console, as_json

_QUALITIES = {"answer_f1": "F1", "retrieval_recall": "recall"}


def print_equalized(found: Equalized, console: Console, *, json: bool) -> None:
    """Print who spends what under which settings, then the comparison at equal budget; or one JSON object."""
    if json:
        fields = equalized_fields(found, FINISHED) | {"comparison": compared_fields(found.compared)}
        console.file.write(as_json(fields) + "\n")
        return
    print_parts(list(_parts(found)), console)
    print_compared(found.compared, console)
    for line in (
        f"folder         {found.folder}  ({EQUAL_BUDGET}, comparison.json, pilots/, default/, equal/)",
        f"as configured  arena show {found.folder / 'default'}",
    ):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def deviation_text(share: float) -> str:
    """How far from a target, as in `-2.4%`."""
    return f"{share:+.1%}"


def _parts(found: Equalized) -> Iterator[Part]:
    unit = found.request.unit
    whose = "as given" if found.origin == GIVEN else f"what {found.origin} spends as configured"
    target = f"{amount_text(found.target, unit)} {unit} per question, {whose}"
    yield Text(f"Equal budget: {target}, within {found.request.tolerance:.1%}", style="bold")
    yield _table(found)
    yield (
        "default: as configured, on the same questions. pilot: under the setting that was found, on the part dev. "
        "achieved: on the questions of the comparison, and how far from the target. cut: questions that an allowance "
        "ended."
    )
    yield from _shortfalls(found)
    if found.spread is not None:
        yield f"Of those that reach the target, the dearest spends {found.spread:.1%} more than the cheapest."


def _table(found: Equalized) -> Rows:
    unit = found.request.unit
    quality = _quality(found)
    rows = []
    for one in found.settled:
        own, chosen = own_cell(found.default, one.contestant), one.chosen
        rows.append(
            (
                one.contestant.entry,
                one.contestant.mode,
                shown(chosen.setting),
                amount_text(spent(own, unit), unit),
                amount_text(chosen.pilot_spent, unit),
                amount_text(chosen.spent, unit),
                deviation_text(chosen.deviation(found.target)),
                str(chosen.n_cut),
                *(metric_text(cell.metrics.get(quality)) for cell in (own, chosen.cell)),
            )
        )
    name = _QUALITIES[quality]
    headings = ("strategy", "mode", "setting", "default", "pilot", "achieved", "off", "cut")
    return Rows((*headings, f"{name} default", f"{name} equal"), tuple(rows), 3)


def _quality(found: Equalized) -> str:
    cells = [one.chosen.cell for one in found.settled]
    defined = (name for name in _QUALITIES if any(cell.defines(name) for cell in cells))
    return next(defined, "answer_f1")


def _shortfalls(found: Equalized) -> Iterator[str]:
    unit = found.request.unit
    for one in found.settled:
        point = one.solution.point
        if one.solution.reason is not None:
            yield (
                f"{one.contestant.name} does not reach the target: {one.solution.reason}; its nearest in the pilots is "
                f"{amount_text(point.spent, unit)}."
            )
        elif not found.within(one):
            off, pilot = one.chosen.deviation(found.target), point.deviation(found.pilot_target)
            yield (
                f"{one.contestant.name} is {deviation_text(off)} off on the questions of the comparison, and was "
                f"{deviation_text(pilot)} off in the pilots: they are few, {_tries(one)}."
            )
    if found.lists.controls:
        yield f"Controls have no price to set and stand as configured: {', '.join(found.lists.controls)}."
    if found.lists.silent:
        yield f"Asks no model, and is in the default comparison only: {', '.join(found.lists.silent)}."


def _tries(one: Settled) -> str:
    count = len(one.tried) - 1
    return "and no correction was made" if count == 0 else f"and {count} correction{'s'[: count != 1]} did not mend it"


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


def expect_budget(request: EqualizeRequest, reporter: Reporter) -> ExpectedBudget:
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
    own = {one: next(found for found in dry.cells if one.has(found.cell)) for one in lists.contestants}
    known = [_per_question(one)[request.unit] for one in own.values()]
    target = request.target or max((one for one in known if one is not None), default=None)
    if request.unit == "usd" and None in known:
        raise ConfigError(
            "no price is known for the model: give it one under `prices`, or choose another --per-question"
        )
    n_questions = max(len(entry.questions) for entry in read_entries(config).competing if entry.spec.needs_model)
    bounds = [
        bound
        for contestant, expected in own.items()
        for bound in _bounds(contestant, expected, request, target, n_questions)
    ]
    return ExpectedBudget(folder.path.name, request.unit, target, tuple(bounds))


def print_expected(expected: ExpectedBudget, console: Console, *, json: bool) -> None:
    """Print the bounds, or one JSON object."""
    if json:
        console.file.write(as_json(expected) + "\n")
    else:
        print_parts(list(_expected_parts(expected)), console)


def _bounds(
    contestant: EqualizedEntry, expected: Expectation, request: EqualizeRequest, target: float | None, n_questions: int
) -> Iterator[Bound]:
    amounts = _per_question(expected)
    own = amounts[request.unit]
    grown = max(target / own, 1.0) if own and target is not None else None
    parts = (
        ("pilots", MAX_PILOTS, expected.n_questions, grown),
        ("comparison", 1 + request.corrections, n_questions, grown),
        ("as configured", 1, n_questions, 1.0),
    )
    for part, runs, questions, factor in parts:
        calls, tokens, usd = (
            None if amount is None or factor is None else amount * factor * runs * questions
            for amount in amounts.values()
        )
        yield Bound(contestant.name, part, runs, questions, calls, tokens, usd)


def _per_question(expected: Expectation) -> Mapping[Unit, float | None]:
    """Calls, tokens and dollars, None = unknown."""
    figures = expected.figures
    amounts: Mapping[Unit, float | None] = {
        "calls": figures.calls,
        "tokens": sum_known([figures.input_tokens, figures.output_tokens]),
        "usd": figures.usd,
    }
    n = expected.n_questions
    return {unit: None if amount is None or not n else amount / n for unit, amount in amounts.items()}


def _expected_parts(expected: ExpectedBudget) -> Iterator[Part]:
    rows = [
        (one.contestant, one.part, str(one.runs), str(one.questions), count_text(one.calls), count_text(one.tokens),
         usd_text(one.usd))
        for one in expected.bounds
    ]  # fmt: skip
    yield Rows(("contestant", "part", "runs", "questions", "calls", "tokens", "USD"), tuple(rows), 2)
    target = f"{count_text(expected.target)} {expected.unit}"
    sums = [sum_known(getattr(one, name) for one in expected.bounds) for name in ("calls", "tokens", "usd")]
    most = f"{count_text(sums[0])} calls, {count_text(sums[1])} tokens, USD {usd_text(sums[2])}"
    yield (
        f"At most, if every pilot spends the target of {target} per question and all {MAX_PILOTS} are needed: {most}. "
        "Judging and controls come on top."
    )
    yield "Replies that were paid for are kept and never paid for twice. Nothing was spent, and no folder was made."
