"""The headline: what may be said of a run in a few sentences, and no more than its statistics bear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from arena.leaderboard.build import Leaderboard
from arena.leaderboard.cells import CellSummary
from arena.leaderboard.validity import counted
from arena.metrics.failures import failure_classes
from arena.report.figures import Phrase, Quote, Quotes, path_of, share_of_sum
from arena.report.names import RANKED, Mark, Standing, listed, metric_name, standing_of
from arena.report.sections.limits import detectable
from arena.types import grouped, sum_known

BASELINE = "vanilla"


@dataclass(frozen=True, slots=True)
class Currency:
    """One way to count cost: the sum of what stands at `figures` of a cell, written by `rule`."""

    rule: str
    unit: str
    figures: tuple[str, ...]

    def paths(self, place: int) -> tuple[str, ...]:
        return tuple(f"cells.{place}.{figure}" for figure in self.figures)

    def quote(self, quotes: Quotes, place: int) -> Quote:
        return quotes.quote(self.rule, *self.paths(place))

    def of(self, cell: CellSummary) -> float | None:
        """None where any of it is not known."""
        return sum_known(attrgetter(figure)(cell) for figure in self.figures)


_CURRENCIES = (
    Currency("usd", "US dollars a question", ("cost_usd_per_question",)),
    Currency("tokens_sum", "tokens a question", ("tokens_per_question.input", "tokens_per_question.output")),
    Currency("second", "seconds a question", ("latency_seconds.mean",)),
)


def price_sentences(
    board: Leaderboard, marks: Sequence[Mark], top: Sequence[int], quotes: Quotes
) -> tuple[Phrase, ...]:
    """Up to two; none where no cost of the leading cell, `top[0]`, is known. `top`: places of the top group."""
    lead = top[0]
    currency = next((one for one in _CURRENCIES if one.of(board.cells[lead])), None)
    if currency is None:
        return ()
    baseline = _baseline(board.cells, lead, currency)
    sentences: list[Phrase] = []
    if baseline is not None:
        times = quotes.quote("times_of_sums", *currency.paths(lead), *currency.paths(baseline))
        name, other = marks[lead].name, marks[baseline].name
        own, its = currency.quote(quotes, lead), currency.quote(quotes, baseline)
        sentences.append(
            (f"{name} takes ", times, f" times what {other} does: ", own, " against ", its, f" {currency.unit}.")
        )
    known = {place: cost for place in top if (cost := currency.of(board.cells[place])) is not None}
    cheapest = min(known, key=lambda place: (known[place], place))
    whose = "" if len(known) == len(top) else ", as far as costs are known,"
    if cheapest not in (lead, baseline):
        least = currency.quote(quotes, cheapest)
        name = marks[cheapest].name
        sentences.append((f"The cheapest of the top group{whose} is {name}, at ", least, f" {currency.unit}."))
    elif cheapest == baseline and sentences:
        sentences.append((f"{marks[baseline].name} is the cheapest of the top group{whose}.",))
    return tuple(sentences)


def _baseline(cells: Sequence[CellSummary], lead: int, currency: Currency) -> int | None:
    """Vanilla with the leading cell's mode and model; None where it leads itself, or its cost is not known."""
    own = cells[lead]
    if own.strategy == BASELINE:
        return None
    return next(
        (
            place
            for place, cell in enumerate(cells)
            if (cell.strategy, cell.retrieval_mode, cell.llm) == (BASELINE, own.retrieval_mode, own.llm)
            and currency.of(cell)
        ),
        None,
    )


_EXPLANATIONS = {
    "system": "calls that failed or ran out",
    "controller": "missing evidence",
    "retrieval": "missing evidence",
    "reader": "the reader",
    "form": "the form of the answers",
    "untold": "what gold and judge cannot tell",
}


def headline(board: Leaderboard, marks: Sequence[Mark]) -> tuple[Phrase, ...]:
    """The sentences: who is ahead, at what price, why answers fail, and what the run could not have shown."""
    quotes = Quotes(board)
    standing = standing_of(board)
    if standing is None:
        return (_without_contest(board, marks, quotes),)
    lead = standing.top[0]
    return (
        _ahead(standing, board.cells, marks, quotes),
        *price_sentences(board, marks, standing.top, quotes),
        *_failures(lead, board.cells[lead], marks[lead], quotes),
        *((told,) if (told := detectable(quotes, standing.metric)) else ()),
    )


def _ahead(standing: Standing, cells: Sequence[CellSummary], marks: Sequence[Mark], quotes: Quotes) -> Phrase:
    metric, lead = standing.metric, standing.top[0]
    named, name = metric_name(metric), marks[lead].name
    figure = _mean(quotes, lead, metric)
    others = [marks[place].name for place in standing.top[1:]]
    n_all = len(standing.all)
    rivals = "" if n_all == len(cells) else " in this contest"
    if len(standing.top) == n_all:
        pair = f"the two cells{rivals} are not" if n_all == 2 else f"no two of the {n_all:,} cells{rivals} are"
        return (f"No cell is ahead: {pair} shown to differ in {named} by more than chance. ",
                f"The highest mean is that of {name}: ", *figure, ".")  # fmt: skip
    if others:
        return (f"{name} is in the top group in {named} with {listed(others)}: its mean is ", *figure,
                f", and no cell{rivals} is better than any of these by more than chance.")  # fmt: skip
    unclear = cells[lead].ranks[metric].worst - 1
    if unclear:
        return (f"{name} alone has no cell above it in {named} by more than chance: ", *figure,
                f". But it is not shown to be better than {unclear:,} of the other {n_all - 1:,} "
                f"cells{rivals}.")  # fmt: skip
    beaten = f"the other cell{rivals}" if n_all == 2 else f"each of the other {n_all - 1:,} cells{rivals}"
    return (f"{name} is ahead in {named}: ", *figure, f". It is better than {beaten} by more than chance.")


def _without_contest(board: Leaderboard, marks: Sequence[Mark], quotes: Quotes) -> Phrase:
    """Where no two cells could be compared."""
    if not board.cells:
        return ("No question has an answer yet.",)
    metric = next((one for one in RANKED if any(not cell.withheld(one) for cell in board.cells)), None)
    if metric is None:
        return ("No cell has a figure that counts: all are withheld, invalid or undefined; the leaderboard says why.",)
    standing = [place for place, cell in enumerate(board.cells) if not cell.withheld(metric)]
    place, named = standing[0], metric_name(metric)
    if len(standing) > 1:
        return (f"No two cells can be compared in {named}: too few questions have a score in both.",)
    rest = (
        ". It is the only cell: there is nothing to compare it with."
        if len(board.cells) == 1
        else f". No other of the {counted(len(board.cells), 'cell')} has a figure that counts beside it."
    )
    return (f"{marks[place].name} has {named} ", *_mean(quotes, place, metric), rest)


def _mean(quotes: Quotes, place: int, metric: str) -> Phrase:
    """As in `0.56 (95 % interval .49-.63)`."""
    path = path_of("cells", place, "metrics", metric)
    return quotes.quote("ratio", f"{path}.mean"), " (95% interval ", quotes.quote("range", path), ")"


def _failures(place: int, cell: CellSummary, mark: Mark, quotes: Quotes) -> tuple[Phrase, ...]:
    """What explains most of what went wrong in a cell; nothing where nothing did, or nobody knows."""
    counts = cell.failures.counts if cell.failures else []
    known = failure_classes()
    wrong = grouped(
        (_EXPLANATIONS[known[one.failure].stage], number)
        for number, one in enumerate(counts)
        if one.failure in known and known[one.failure].is_failure
    )
    if not wrong:
        return ()
    largest = max(wrong, key=lambda name: sum(counts[number].n for number in wrong[name]))
    others = sorted(number for name, numbers in wrong.items() if name != largest for number in numbers)
    parts, rest = (
        [path_of("cells", place, "failures", "counts", number, "n") for number in numbers]
        for numbers in (wrong[largest], others)
    )
    share = quotes.quote(share_of_sum(len(parts)), *parts, *rest)
    of_all = quotes.quote("counts", *parts, *rest)
    verb = "explain" if largest.startswith("calls") else "explains"
    return ((f"{largest[0].upper()}{largest[1:]} {verb} ", share, f" of what {mark.name} gets wrong (",
             quotes.quote("counts", *parts), " of ", of_all, " questions)."),)  # fmt: skip
