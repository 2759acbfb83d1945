"""What calls are expected to take, from what a few like them took; and the equipment of a dry run.

Hours are those of the speed that finished runs have measured for the same model. Of the index only a plan is made: its
chunks are counted, and nothing is embedded. Passages are found by the words that they share with a query. That is no
retrieval to be judged; it fills prompts with passages of the corpus, cut as the run would cut them, which is what a dry
run needs to know.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from arena.accounting import Account, account_of, add_up
from arena.config import LLMSettings
from arena.errors import RunStoreError, StrategyError
from arena.llm.providers import is_fake
from arena.prices import PriceTable
from arena.protocols import Embedding, SparseVector
from arena.store import RunStore
from arena.store.runs import started_runs
from arena.types import OWN_MODE, CallAttempt, Cell, Hit, LLMCall, Passage, Retrieval, RetrievalRequest, sum_known
from indexing.modes import k_of

if TYPE_CHECKING:
    from indexing.embedding.embedder import IndexEmbedder
    from indexing.opening import IndexPlan

TOKENS_PER_WORD = 1.5
"""Tokens per run of characters between white space, prompts and passages together, a little on the high side.

Measured: 1.3 on paragraphs of MuSiQue (30,000 WordPieces), 1.55 on whole prompts over the fictional world, whose names
are in no dictionary (SmolLM2, its chat template counted).
"""


class Figures(NamedTuple):
    """What calls take, None = unknown. `usd_with_full_replies`: were every reply at its limit; in the past, `usd`."""

    calls: float | None
    input_tokens: float | None
    output_tokens: float | None
    usd: float | None
    usd_with_full_replies: float | None


def sum_figures(parts: Sequence[Figures]) -> Figures:
    """The sums; one is None when any part of it is unknown."""
    return Figures(*(sum_known(part[place] for part in parts) for place in range(len(Figures._fields))))


@dataclass(frozen=True, slots=True)
class Expectation:
    """What one cell, or a judge by one metric on the answers of one cell, is expected to take.

    `account` is that of `n_observed` questions, observed in `origin` (a run's id; None = a probe with the fake model).
    `full_usd`: what those would have cost had every reply been as long as it may be; of a probe only. `failures`: why
    questions of a probe failed; those that do stop short, and make the figures too low. `n_fitted`: questions of a
    probe of whose evidence some was left out for want of room (None: no probe).
    """

    cell: Cell
    n_questions: int
    n_observed: int
    origin: str | None
    account: Account
    full_usd: float | None = None
    failures: tuple[str, ...] = ()
    n_fitted: int | None = None

    @property
    def is_guessed(self) -> bool:
        """Whether anything can be expected: not of a system of the user's own that no run has asked yet."""
        return self.origin is not None or self.cell.retrieval_mode != OWN_MODE

    @property
    def figures(self) -> Figures:
        """On all questions."""
        if not self.is_guessed:
            return Figures(None, None, None, None, None)
        whole = self.account.whole
        full_usd = whole.usd.value if self.origin else self.full_usd
        others = (whole.input_tokens.value, whole.output_tokens.value, whole.usd.value, full_usd)
        calls = None if self.cell.retrieval_mode == OWN_MODE else self._scaled(whole.calls)
        return Figures(calls, *map(self._scaled, others))

    def _scaled(self, observed: float | None) -> float | None:
        if observed is None:
            return None
        return observed / self.n_observed * self.n_questions if self.n_observed else 0.0


def from_probe(
    cell: Cell,
    n_questions: int,
    n_observed: int,
    calls: Sequence[LLMCall],
    prices: PriceTable,
    max_tokens: int,
    failures: tuple[str, ...] = (),
) -> Expectation:
    """From calls of the fake model on `n_observed` questions, had the cell's model been asked."""
    account = add_up(account_of([_as_asked(call, cell)], cell, prices) for call in calls)
    full = account_of([_as_asked(call, cell, written=max_tokens) for call in calls], cell, prices)
    return Expectation(cell, n_questions, n_observed, None, account, full.whole.usd.value, failures)


def _as_asked(call: LLMCall, cell: Cell, written: int | None = None) -> LLMCall:
    """A call of the fake as the cell's model would have it, without seconds; `written`: with a reply so long."""
    model = cell.llm or call.model
    # The tokens of the fake are words.
    factor = 1.0 if is_fake(model) else TOKENS_PER_WORD
    attempts = tuple(
        CallAttempt(
            _tokens(one.input_tokens, factor), _tokens(one.output_tokens, factor) if written is None else written
        )
        for one in call.attempts
    )
    return replace(call, model=model, attempts=attempts, replayed=True)


def _tokens(words: int | None, factor: float) -> int | None:
    return None if words is None else round(words * factor)


_USUAL_AT_ONCE, _LOCAL_AT_ONCE = 8, 1
"""Calls in flight where the settings do not say: of a server, and of a model in this process."""

_READ_AT_MOST = 500
"""Records, and verdicts, of a run that its seconds_per_call is taken from."""

_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class SecondsPerCall:
    """Mean seconds that the provider took for a call, retries included, over `n_calls` in a finished run."""

    seconds: float
    n_calls: int
    run_id: str


@dataclass(frozen=True, slots=True)
class ModelWork:
    """Calls to be made of one model, under its `settings`. `tokens` None: unknown; `seconds_per_call` None: unknown."""

    model: str
    settings: LLMSettings
    questions_at_once: int
    calls: float
    tokens: float | None
    seconds_per_call: SecondsPerCall | None

    @property
    def at_once(self) -> int:
        """Calls in flight. A question makes its calls one after another or a few at a time."""
        usual = _LOCAL_AT_ONCE if self.model.startswith("local:") else _USUAL_AT_ONCE
        return min(self.settings.concurrency or usual, self.questions_at_once)

    @property
    def hours(self) -> float | None:
        """At the measured speed, or at the limits of its settings where these are slower; a fake model takes none."""
        if is_fake(self.model) or not self.calls:
            return 0.0
        return None if self.seconds_per_call is None else self.hours_at(self.seconds_per_call.seconds)

    def hours_at(self, seconds: float) -> float:
        """The hours if a call took so long."""
        bounds = [self.calls * seconds / self.at_once / _HOUR]
        if self.settings.requests_per_minute:
            bounds.append(self.calls / self.settings.requests_per_minute / 60)
        if self.settings.tokens_per_minute and self.tokens is not None:
            bounds.append(self.tokens / self.settings.tokens_per_minute / 60)
        return max(bounds)


def measured_seconds(runs_dir: Path, models: AbstractSet[str]) -> dict[str, SecondsPerCall]:
    """Model -> its speed in the last finished run that asked it, on whatever data. An unreadable run is left."""
    found: dict[str, SecondsPerCall] = {}
    for store in started_runs(runs_dir, finished=True):
        wanted = models - found.keys()
        if not wanted:
            break
        with suppress(RunStoreError):
            seconds: dict[str, list[float]] = {}
            for call in _measured_calls(store):
                if call.model in wanted:
                    seconds.setdefault(call.model, []).append(call.service_seconds)
            found |= {model: SecondsPerCall(sum(of) / len(of), len(of), store.run_id) for model, of in seconds.items()}
    return found


def _measured_calls(store: RunStore) -> Iterator[LLMCall]:
    """Calls that were made, not replayed, of the first records and verdicts."""
    records, verdicts = islice(store.records(), _READ_AT_MOST), islice(store.verdicts(), _READ_AT_MOST)
    made = chain((one.calls for one in records), (one.calls for one in verdicts))
    return (call for calls in made for call in calls if not call.replayed)


_WORD = re.compile(r"\w+")


class Unembedding:
    """An `IndexEmbedder` that is known by all that identifies another one, and gives every text the same vectors."""

    def __init__(self, embedder: IndexEmbedder) -> None:
        self._embedder = embedder
        self.identity, self.provenance = embedder.identity, embedder.provenance
        self.dimension, self.batch_texts = embedder.dimension, embedder.batch_texts
        self.sparse_idf = embedder.sparse_idf

    def fitted(self, texts: Sequence[str]) -> Self:
        return self

    def count_truncated(self, texts: Sequence[str]) -> int:
        """By the tokenizer alone."""
        return self._embedder.count_truncated(texts)

    def embed_passages(self, texts: Sequence[str]) -> Embedding:
        one = np.eye(1, self.dimension, dtype=np.float32)
        multi = (one,) * len(texts) if self.identity.get("multivectors", "none") not in ("none", 0) else None
        return Embedding(np.repeat(one, len(texts), axis=0), (SparseVector((), ()),) * len(texts), multi)

    def embed_queries(self, texts: Sequence[str]) -> Embedding:
        return self.embed_passages(texts)


class PlannedRetriever:
    """Passages of a planned index by shared words: most of the query's words first, then in id order."""

    def __init__(self, plan: IndexPlan) -> None:
        self._passages = plan.passages
        self._places = {passage.passage_id: passage for passage in plan.passages}
        self._pieces = Counter(passage.doc_id for passage in plan.passages)

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        wanted = k_of(request)
        shared = Counter(place for word in _words(request.query) for place in self._holders.get(word, ()))
        rest = (place for place in range(len(self._passages)) if place not in shared)
        ranked = sorted(shared, key=lambda place: (-shared[place], place))[:wanted]
        chosen = [*ranked, *(place for place, _ in zip(rest, range(wanted - len(ranked)), strict=False))]
        return Retrieval(request, tuple(self._hit(place, rank) for rank, place in enumerate(chosen, start=1)))

    async def retrieve_many(self, requests: Sequence[RetrievalRequest]) -> tuple[Retrieval, ...]:
        return tuple([await self.retrieve(request) for request in requests])

    def passage(self, passage_id: str) -> Passage:
        """The passage behind a hit. Raises `StrategyError` for an id that no hit can have had."""
        try:
            return self._places[passage_id]
        except KeyError:
            raise StrategyError(f"no passage {passage_id!r} in the index: use ids from its hits") from None

    def close(self) -> None:
        """Nothing is open."""

    def _hit(self, place: int, rank: int) -> Hit:
        passage = self._passages[place]
        span = (passage.start_char, passage.end_char) if self._pieces[passage.doc_id] > 1 else None
        return Hit(passage.passage_id, passage.doc_id, rank, 1.0 / rank, span=span)

    @cached_property
    def _holders(self) -> Mapping[str, Sequence[int]]:
        """Word -> places of the passages that hold it."""
        holders: dict[str, list[int]] = {}
        for place, passage in enumerate(self._passages):
            for word in _words(f"{passage.title} {passage.text}"):
                holders.setdefault(word, []).append(place)
        return holders


def counted(plan: IndexPlan, embedder: IndexEmbedder) -> dict[str, Any]:
    """What is known of an index that is not built."""
    from indexing.chunking import indexed_text

    texts = [indexed_text(passage) for passage in plan.passages]
    return {
        "documents": plan.documents,
        "passages": len(texts),
        "empty_passages": sum(not text.strip() for text in texts),
        "truncated_passages": embedder.count_truncated(texts),
    }


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
