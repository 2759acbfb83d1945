"""What the cell in the headline costs, beside vanilla and beside the cheapest of the top group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.report.cell_summary import CellSummary
from arena.report.leaderboard import Leaderboard
from arena.report.page.marks import Mark
from arena.report.page.quoted import Phrase, Quote, Quotes, path_of

BASELINE = "vanilla"


@dataclass(frozen=True, slots=True)
class Currency:
    """One way to count cost: `paths` of a cell, whose sum it is."""

    name: str
    rule: str
    unit: str

    def paths(self, place: int) -> tuple[str, ...]:
        tails = {
            "usd": (("cost_usd_per_question",),),
            "tokens": (("tokens_per_question", "input"), ("tokens_per_question", "output")),
            "seconds": (("latency_seconds", "mean"),),
        }[self.name]
        return tuple(path_of("cells", place, *tail) for tail in tails)

    def of(self, cell: CellSummary) -> float | None:
        if self.name == "usd":
            return cell.cost_usd_per_question
        return cell.tokens if self.name == "tokens" else cell.latency_seconds.mean


_CURRENCIES = (
    Currency("usd", "usd", "US dollars a question"),
    Currency("tokens", "tokens_sum", "tokens a question"),
    Currency("seconds", "second", "seconds a question"),
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
        sentences.append(
            (
                f"{marks[lead].name} takes ",
                times,
                f" times what {marks[baseline].name} does: ",
                _amount(quotes, currency, lead),
                " against ",
                _amount(quotes, currency, baseline),
                f" {currency.unit}.",
            )
        )
    known = {place: cost for place in top if (cost := currency.of(board.cells[place])) is not None}
    cheapest = min(known, key=lambda place: (known[place], place))
    if cheapest not in (lead, baseline):
        sentences.append(
            (
                f"The cheapest of the top group is {marks[cheapest].name}, at ",
                _amount(quotes, currency, cheapest),
                f" {currency.unit}.",
            )
        )
    elif cheapest == baseline and sentences:
        sentences.append((f"{marks[baseline].name} is the cheapest of the top group.",))
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


def _amount(quotes: Quotes, currency: Currency, place: int) -> Quote:
    return quotes.quote(currency.rule, *currency.paths(place))
