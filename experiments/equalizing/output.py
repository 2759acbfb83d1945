"""An equal-budget comparison on a terminal, or as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from arena.leaderboard.cells import CellSummary
from arena.report.figures import metric_text
from arena.report.text import Part, Rows, print_parts
from arena.store import FINISHED
from experiments.comparing.table import compared_fields, print_compared
from experiments.equalizing.contestant import shown
from experiments.equalizing.equalized import Equalized, equalized_fields
from experiments.equalizing.evaluation import Settled
from experiments.equalizing.folder import EQUAL_BUDGET
from experiments.equalizing.target import GIVEN
from experiments.equalizing.unit import amount_text, spent
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
    for line in _farewell(found):
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
        own, chosen = found.own_cell(one.contestant), one.chosen
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
    defined = (name for name in _QUALITIES if any(_is_defined(cell, name) for cell in cells))
    return next(defined, "answer_f1")


def _is_defined(cell: CellSummary, metric: str) -> bool:
    return metric in cell.metrics and cell.metrics[metric].coverage is not None


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


def _farewell(found: Equalized) -> Sequence[str]:
    return (
        f"folder         {found.folder}  ({EQUAL_BUDGET}, comparison.json, pilots/, default/, equal/)",
        f"as configured  arena show {found.folder / 'default'}",
    )
