"""The part of leaderboard.json that says what a cell's calls used and cost. These models are its schema."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from arena.accounting import Account, Spend
from arena.prices import PriceTable
from arena.report.schema import Row

Withheld = Literal["no_price", "unknown_usage", "no_seconds"]
"""Why a cost is unknown: no price for a model, tokens not reported, replays of a model that is paid by the hour."""


class PriceSource(Row):
    """Where prices come from."""

    source: str = Field(description="The price list and its version.")
    as_of: str = Field(description="The day whose prices were taken, YYYY-MM-DD: that on which the run was started.")
    own: list[str] = Field(description="Models priced by the user instead.")


class SpendingSummary(Row):
    """All calls of one cell.

    Sums are None when the tokens or the price of any call are unknown; `usd_at_least` is the sum of what is known.
    Replayed calls are counted with what they would have used and cost, and apart.
    """

    calls: int = Field(ge=0)
    attempts: int = Field(ge=0, description="Requests inside the calls; retries make them more than the calls.")
    repairs: int = Field(ge=0, description="Calls that asked once more for what could not be read.")
    failed_calls: int = Field(ge=0)
    unknown_calls: int = Field(ge=0, description="Calls with an attempt whose tokens the provider did not report.")
    replayed_calls: int = Field(ge=0)
    replayed_input_tokens: float | None
    replayed_output_tokens: float | None
    usd: float | None = Field(description="Paid and replayed calls together.")
    usd_at_least: float
    paid_usd: float | None = Field(
        description="Of calls that were not replayed. A question given up by a stop is replayed when it is asked "
        "again, although the run had paid for it."
    )
    replayed_usd: float | None
    withheld: Withheld | None = Field(description="Why `usd` is None.")


def price_source(prices: PriceTable) -> PriceSource:
    """What `prices` were taken from."""
    return PriceSource(source=prices.source, as_of=prices.as_of.isoformat(), own=sorted(prices.own))


def summarise_spending(account: Account) -> SpendingSummary:
    """The account of one cell."""
    whole, replayed = account.whole, account.replayed
    return SpendingSummary(
        calls=whole.calls,
        attempts=whole.attempts,
        repairs=account.repairs,
        failed_calls=account.failed_calls,
        unknown_calls=account.unknown_calls,
        replayed_calls=replayed.calls,
        replayed_input_tokens=replayed.input_tokens.value,
        replayed_output_tokens=replayed.output_tokens.value,
        usd=whole.usd.value,
        usd_at_least=whole.usd.known,
        paid_usd=account.paid.usd.value,
        replayed_usd=replayed.usd.value,
        withheld=_withheld(account, whole),
    )


def _withheld(account: Account, whole: Spend) -> Withheld | None:
    if whole.usd.value is not None:
        return None
    if account.unpriced_calls:
        return "no_price"
    return "unknown_usage" if account.unknown_calls else "no_seconds"
