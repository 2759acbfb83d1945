"""Figures as text: the one place that rounds. Each rule has a name, by which a quoted figure says how it was written.

A quoted figure knows its place in leaderboard.json.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

from arena.leaderboard.build import Leaderboard
from arena.leaderboard.cells import CellSummary
from arena.leaderboard.schema import MetricSummary, Ranks
from arena.statistics.intervals import Interval
from arena.types import sum_known

UNDEFINED = "\N{EN DASH}"
INVALID = "invalid"


def metric_text(summary: MetricSummary | None) -> str:
    """Mean with its interval, as in `0.56 .49-.63`, and `[.54, .57]`, its bounds, where scores are missing.

    A withheld mean leaves only the bounds, one value only the mean. The interval is written with an en dash; it and
    the bounds are rounded outwards, so that neither looks better than it is.
    """
    if summary is None or summary.coverage is None:
        return UNDEFINED
    parts = []
    if summary.mean is not None:
        interval = _interval(summary.ci_low, summary.ci_high)
        parts.append(f"{summary.mean:.2f}{interval}")
    if summary.coverage < 1 and summary.lower_bound is not None and summary.upper_bound is not None:
        parts.append(f"[{_outward(summary.lower_bound, ROUND_FLOOR)}, {_outward(summary.upper_bound, ROUND_CEILING)}]")
    return " ".join(parts)


def range_text(summary: MetricSummary | None) -> str:
    """The interval alone, as in `.49-.63` with an en dash, rounded outwards."""
    return UNDEFINED if summary is None else _interval(summary.ci_low, summary.ci_high).strip() or UNDEFINED


def ranks_text(ranks: Ranks | None) -> str:
    """The ranks a cell may have, as in `2-5`, with an en dash; one number where there is but one."""
    if ranks is None:
        return UNDEFINED
    return str(ranks.best) if ranks.best == ranks.worst else f"{ranks.best}\N{EN DASH}{ranks.worst}"


def signed_text(difference: float | None) -> str:
    """A difference with its sign, to two digits."""
    return UNDEFINED if difference is None else f"{round(difference, 2) + 0.0:+.2f}"


def signed_interval_text(low: float | None, high: float | None) -> str:
    """`-0.02 to +0.11`, rounded outwards."""
    if low is None or high is None:
        return UNDEFINED
    return f"{_outward_digits(low, ROUND_FLOOR):+.2f} to {_outward_digits(high, ROUND_CEILING):+.2f}"


def difference_text(difference: Interval | None) -> str:
    """A difference and its interval, as in `+0.05 (-0.02 to +0.11)`."""
    if difference is None:
        return UNDEFINED
    return f"{signed_text(difference.mean)} ({signed_interval_text(difference.low, difference.high)})"


def ratio_interval_text(ratio: Interval | None) -> str:
    """A ratio and its interval, rounded as a metric is."""
    return UNDEFINED if ratio is None else f"{ratio.mean:.2f}{_interval(ratio.low, ratio.high)}"


def p_text(p: float | None) -> str:
    """A p-value to three digits after the point, never as 0."""
    if p is None:
        return UNDEFINED
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def tokens_text(cell: CellSummary) -> str:
    """Input and output tokens per question; 0 only where it is known that none were used."""
    return _tokens_sum(cell.tokens_per_question.input, cell.tokens_per_question.output)


def usd_text(usd: float | None) -> str:
    """US dollars to three digits after the first that counts, or to the cent from one dollar up."""
    if usd is None:
        return UNDEFINED
    if usd == 0 or usd >= 1:
        return f"{usd:,.2f}" if usd else "0"
    return f"{Decimal(f'{usd:.3g}'):f}"


def seconds_text(cell: CellSummary) -> str:
    """Median and 95th percentile, and how many failed questions they leave out."""
    seconds = cell.latency_seconds
    known = seconds.p50 is not None and seconds.p95 is not None
    figure = f"{seconds.p50:.2f} / {seconds.p95:.2f}" if known else UNDEFINED
    return f"{figure} ({cell.n_failed} failed)" if cell.n_failed else figure


def count_text(count: float | None) -> str:
    """A whole number, or the nearest one, thousands parted."""
    return UNDEFINED if count is None else f"{count:,.0f}"


def per_question_text(amount: float | None) -> str:
    """A mean of calls or tokens: to one digit below a hundred, whole above; what is not 0 is not written as 0."""
    if amount is None:
        return UNDEFINED
    if 0 < amount < 0.05:
        return "<0.1"
    return f"{amount:.1f}" if 0 < amount < 99.95 else f"{amount:,.0f}"


def ratio_text(ratio: float | None) -> str:
    """A mean, a share or a correlation to two digits."""
    return UNDEFINED if ratio is None else f"{ratio:.2f}"


def share_text(share: float | None) -> str:
    """A share in whole percent; what is neither none nor all is not written as if it were."""
    if share is None:
        return UNDEFINED
    percent = round(share * 100)
    if percent == 0 and share > 0:
        return "<1%"
    return ">99%" if percent == 100 and share < 1 else f"{percent}%"


def times_text(amount: float | None, other: float | None) -> str:
    """How many times `other` `amount` is, to two digits that count; undefined beside nothing."""
    if amount is None or not other:
        return UNDEFINED
    times = amount / other
    return f"{times:,.0f}" if times >= 10 else f"{times:.1f}" if times >= 1 else f"{times:.2f}"


def second_text(seconds: float | None) -> str:
    """Seconds to two digits after the point."""
    return UNDEFINED if seconds is None else f"{seconds:,.2f}"


def _interval(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    return f" {_outward(low, ROUND_FLOOR)}\N{EN DASH}{_outward(high, ROUND_CEILING)}"


def _outward(ratio: float, rounding: str) -> str:
    """Two digits without a leading zero."""
    text = str(_outward_digits(ratio, rounding))
    return text.removeprefix("0") if ratio >= 0 else text


def _outward_digits(ratio: float, rounding: str) -> Decimal:
    """Two digits; the ninth is noise of the arithmetic and rounds nothing up. Zero has no sign."""
    return abs(digits) if not (digits := Decimal(f"{ratio:.9f}").quantize(Decimal("0.01"), rounding)) else digits


def _sum_of_counts(*counts: int | None) -> str:
    return count_text(sum(count or 0 for count in counts))


def _tokens_sum(*tokens: float | None) -> str:
    total = sum_known(tokens)
    return "unknown" if total is None else f"{total:,.0f}"


def _times_of_sums(*amounts: float | None) -> str:
    half = len(amounts) // 2
    return times_text(sum_known(amounts[:half]), sum_known(amounts[half:]))


def _turned(difference: float | None) -> str:
    return signed_text(None if difference is None else -difference)


def _turned_interval(low: float | None, high: float | None) -> str:
    return signed_interval_text(None if high is None else -high, None if low is None else -low)


def _plain(text: object) -> str:
    return UNDEFINED if text is None else str(text)


RULES: Mapping[str, Callable[..., str]] = {
    "as_is": _plain,
    "count": count_text,
    "counts": _sum_of_counts,
    "interval": signed_interval_text,
    "invalid": lambda summary: INVALID,
    "metric": metric_text,
    "p": p_text,
    "per_question": per_question_text,
    "range": range_text,
    "ranks": ranks_text,
    "ratio": ratio_text,
    "second": second_text,
    "seconds": seconds_text,
    "share": share_text,
    "signed": signed_text,
    "times": times_text,
    "times_of_sums": _times_of_sums,
    "tokens": tokens_text,
    "tokens_sum": _tokens_sum,
    "turned": _turned,
    "turned_interval": _turned_interval,
    "usd": usd_text,
}
"""Name -> from the values at a figure's paths to its text."""

_SHARE_OF_SUM = "share_of_sum:"


def rule_named(name: str) -> Callable[..., str]:
    """One of RULES, or `share_of_sum:K`: the share that the first K of some counts have in all of them."""
    if name.startswith(_SHARE_OF_SUM):
        n_parts = int(name.removeprefix(_SHARE_OF_SUM))
        return lambda *counts: share_text(sum(counts[:n_parts]) / sum(counts))
    return RULES[name]


def share_of_sum(n_parts: int) -> str:
    """The name of that rule."""
    return f"{_SHARE_OF_SUM}{n_parts}"


_ESCAPES = {"%": "%25", ".": "%2E", " ": "%20"}


@dataclass(frozen=True, slots=True)
class Quote:
    """A figure. `paths`: where its values stand in leaderboard.json; `order`: what it is sorted by (None: last)."""

    text: str
    paths: tuple[str, ...]
    rule: str
    order: float | None = None

    @property
    def path(self) -> str:
        """The paths as one attribute."""
        return " ".join(self.paths)


Phrase = tuple["str | Quote", ...]
"""Words and figures in reading order."""


def step(key: str | int) -> str:
    """A key as one step of a path: without dot or space."""
    return "".join(_ESCAPES.get(one, one) for one in str(key))


def path_of(*keys: str | int) -> str:
    """As in `cells.3.metrics.answer_f1.mean`."""
    return ".".join(map(step, keys))


def resolve(board: Leaderboard, path: str) -> Any:
    """What stands at a path; None where nothing does."""
    found: Any = board
    for piece in path.split("."):
        key = piece.replace("%20", " ").replace("%2E", ".").replace("%25", "%")
        if isinstance(found, Mapping):
            found = found.get(key, found.get(int(key)) if key.isdigit() else None)
        elif isinstance(found, Sequence):
            found = found[int(key)] if int(key) < len(found) else None
        else:
            found = getattr(found, key, None)
        if found is None:
            return None
    return found


class Quotes:
    """Quotes from one leaderboard."""

    def __init__(self, board: Leaderboard) -> None:
        self.board = board

    def quote(self, rule: str, *paths: str, order: float | None = None) -> Quote:
        """The values at `paths`, written by `rule`; sorted by `order`, else by the first value if it is a number."""
        values = [resolve(self.board, path) for path in paths]
        first = values[0]
        if order is None and isinstance(first, int | float):
            order = float(first)
        return Quote(rule_named(rule)(*values), paths, rule, order)

    def row(self, at: str, *figures: str) -> tuple[Quote, ...]:
        """A quote of each figure, as in `interval ci_low ci_high`: a rule, and the names of what stands at `at`."""
        return tuple(self.quote(rule, *(f"{at}.{name}" for name in names)) for rule, *names in map(str.split, figures))
