"""What calls cost, in US dollars: the price list of genai-prices as installed, with the user's own prices over it.

Never a guess: a model without a known price, or tokens that the provider did not report, cost None. Nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from importlib.metadata import version
from typing import TYPE_CHECKING, Protocol

from arena.config import PriceConfig
from arena.types import CallAttempt, Cell, LLMCall, sum_known

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice

_LIST = "genai-prices"
_UNLISTED = ("fake", "local")  # models of this process are sold by nobody
_MILLION = 1_000_000
_SECONDS_PER_HOUR = 3600


class Price(Protocol):
    """What one model costs."""

    def usd(self, attempt: CallAttempt, *, replayed: bool) -> float | None:
        """The cost of an attempt, for a replayed one what it would have been; None when it cannot be known."""


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """The user's price of a model, in dollars per million tokens. Input not reported as cached is not cached."""

    input: float
    output: float
    cached_input: float

    def usd(self, attempt: CallAttempt, *, replayed: bool) -> float | None:
        if attempt.input_tokens is None or attempt.output_tokens is None:
            return None
        cached = min(attempt.cached_input_tokens or 0, attempt.input_tokens)
        dollars = (attempt.input_tokens - cached) * self.input + cached * self.cached_input
        return (dollars + attempt.output_tokens * self.output) / _MILLION


@dataclass(frozen=True, slots=True)
class HourlyPrice:
    """A model that is paid by the hour: a call costs the seconds in which it was served.

    A replay was not served and has no seconds, so what it would have cost is unknown.
    """

    usd_per_hour: float

    def usd(self, attempt: CallAttempt, *, replayed: bool) -> float | None:
        return None if replayed else attempt.service_seconds * self.usd_per_hour / _SECONDS_PER_HOUR


@dataclass(frozen=True, slots=True)
class ListPrice:
    """A price of the list, with its own rules for cached input and for long prompts."""

    listed: ModelPrice

    def usd(self, attempt: CallAttempt, *, replayed: bool) -> float | None:
        from genai_prices.types import Usage

        if attempt.input_tokens is None or attempt.output_tokens is None:
            return None
        if attempt.input_tokens == attempt.output_tokens == 0:
            return 0.0  # a refused request: not even a fee per request is due
        cached = min(attempt.cached_input_tokens or 0, attempt.input_tokens)
        usage = Usage(input_tokens=attempt.input_tokens, output_tokens=attempt.output_tokens, cache_read_tokens=cached)
        return float(self.listed.calc_price(usage)["total_price"])


@dataclass(frozen=True, eq=False)
class PriceTable:
    """Prices as of a day, which is the day a run was started: the same run costs the same whenever it is priced.

    `own`: the user's own prices, by model.
    """

    own: Mapping[str, PriceConfig]
    as_of: date
    _found: dict[tuple[str, str | None], Price | None] = field(default_factory=dict, init=False)

    @property
    def source(self) -> str:
        """The price list and its version, which is its date."""
        return f"{_LIST} {version(_LIST)}"

    def price(self, model: str, base_url: str | None = None) -> Price | None:
        """The price of `PROVIDER:NAME`, asked at `base_url` (None = the provider's own address); None = unknown.

        A model of that name at another address is another provider's, and has that one's price or none.
        """
        key = (model, base_url)
        if key not in self._found:
            own = self.own.get(model)
            self._found[key] = _own_price(own) if own else _list_price(model, base_url, self.as_of)
        return self._found[key]

    def price_of(self, cell: Cell, call: LLMCall) -> Price | None:
        """The price of the model that made `call` in `cell`."""
        base_url = cell.params.get("base_url") if call.model == cell.llm else None
        return self.price(call.model, None if base_url is None else str(base_url))

    def usd(self, call: LLMCall, base_url: str | None = None) -> float | None:
        """The cost of a call, all its attempts; None when that of any is unknown."""
        price = self.price(call.model, base_url)
        return None if price is None else call_usd(price, call)


def call_usd(price: Price, call: LLMCall) -> float | None:
    """The cost of all attempts of `call`; None when that of any is unknown."""
    total = sum_known(price.usd(attempt, replayed=call.replayed) for attempt in call.attempts)
    return None if total is None else float(total)


def _own_price(own: PriceConfig) -> Price | None:
    if own.gpu_usd_per_hour is not None:
        return HourlyPrice(own.gpu_usd_per_hour)
    if own.input_usd_per_million is None or own.output_usd_per_million is None:
        return None
    cached = own.cached_input_usd_per_million
    return TokenPrice(
        own.input_usd_per_million,
        own.output_usd_per_million,
        own.input_usd_per_million if cached is None else cached,
    )


def _list_price(model: str, base_url: str | None, as_of: date) -> Price | None:
    provider, _, name = model.partition(":")
    if provider in _UNLISTED:  # the list is a big module to load
        return None
    from genai_prices.data import providers
    from genai_prices.data_snapshot import DataSnapshot

    listed = DataSnapshot(providers, from_auto_update=False)
    try:
        _, found = listed.find_provider_model(name, None, None if base_url else provider, base_url)
    except LookupError:
        return None
    price = _price_of_the_day(found, as_of)
    # The list has models with half a price or none; a sum over them would pass for cheap or free.
    if price is None or price.input_mtok is None or price.output_mtok is None:
        return None
    return ListPrice(price)


def _price_of_the_day(model: ModelInfo, as_of: date) -> ModelPrice | None:
    """The model's price on that day; None when it changes with the hour, since no call has its time of day."""
    from genai_prices.types import ConditionalPrice, TimeOfDateConstraint

    times = [time(0)]
    for one in model.prices if isinstance(model.prices, list) else ():
        if isinstance(one, ConditionalPrice) and isinstance(one.constraint, TimeOfDateConstraint):
            times += [one.constraint.start_time, one.constraint.end_time]
    if not model.prices:
        return None
    first, *others = (model.get_prices(datetime.combine(as_of, at, at.tzinfo or UTC)) for at in times)
    return first if all(other == first for other in others) else None
