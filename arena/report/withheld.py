"""Which prices and latencies a table does not show, and why; what of it was replayed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arena.llm import is_fake
from arena.report.figures import usd_text
from arena.report.leaderboard import CellSummary, Leaderboard


def spending_notes(board: Leaderboard) -> Iterator[str]:
    """One sentence each on money that is unknown, on latency that was not measured, and on what was replayed."""
    yield from _on_money(board.cells)
    yield from _on_latency([cell for cell in board.cells if _replayed_questions(cell)])
    yield from _on_warm_up(board.cells)
    yield from _on_replays(board.cells)


def _on_money(cells: Sequence[CellSummary]) -> Iterator[str]:
    def withheld(reason: str) -> list[CellSummary]:
        return [cell for cell in cells if cell.spending is not None and cell.spending.withheld == reason]

    models = sorted({cell.llm for cell in withheld("no_price") if cell.llm and not is_fake(cell.llm)})
    if models:
        yield f"USD is withheld: no price is known for {', '.join(models)}; give one under `prices` in the config."
    if unknown := withheld("unknown_usage"):
        count = sum(cell.spending.unknown_calls for cell in unknown if cell.spending)
        yield f"USD of {_names(unknown)} is withheld: the provider did not report all tokens of {_calls(count)}."
    if timeless := withheld("no_seconds"):
        yield f"USD of {_names(timeless)} is withheld: replayed calls have no seconds, by which their model is priced."


def _on_latency(replayed: Sequence[CellSummary]) -> Iterator[str]:
    unmeasured = [cell for cell in replayed if cell.latency_seconds.n_measured == 0]
    if unmeasured:
        yield (
            f"seconds of {_names(unmeasured)} are withheld: every question had a replayed call; --no-cache asks anew."
        )
    if partly := sum(_replayed_questions(cell) for cell in replayed if cell.latency_seconds.n_measured):
        yield f"seconds leave out {partly:,} question{'s' if partly > 1 else ''} with a replayed call."


def _on_warm_up(cells: Sequence[CellSummary]) -> Iterator[str]:
    unmeasured = [cell for cell in cells if cell.n_warm_up and cell.latency_seconds.n_measured == 0]
    if unmeasured:
        yield (
            f"seconds of {_names(unmeasured)} are withheld: nothing was measured after the first question, which warms "
            "up."
        )


def _on_replays(cells: Sequence[CellSummary]) -> Iterator[str]:
    spent = [cell.spending for cell in cells if cell.spending and cell.spending.replayed_calls]
    if spent:
        costs = [one.replayed_usd for one in spent if one.replayed_usd]
        worth = f" (${usd_text(sum(costs))} of the cost)" if len(costs) == len(spent) else ""
        count = sum(one.replayed_calls for one in spent)
        yield f"{_calls(count)}{worth} came from the reply cache, paid for before; tokens count them."


def _replayed_questions(cell: CellSummary) -> int:
    """Questions left out of the latency although they did not fail; none where no call was replayed."""
    if cell.spending is not None and cell.spending.replayed_calls == 0:
        return 0
    return cell.n_questions - cell.n_failed - cell.n_warm_up - cell.latency_seconds.n_measured


def _names(cells: Sequence[CellSummary]) -> str:
    return ", ".join(f"{cell.strategy} {cell.retrieval_mode}" for cell in cells)


def _calls(count: int) -> str:
    return "1 call" if count == 1 else f"{count:,} calls"
