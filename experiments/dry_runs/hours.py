"""How long the model calls of a run would take, at the pace that finished runs have measured for the same model."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from arena.config import LLMSettings, RunConfig
from arena.errors import RunStoreError
from arena.llm import is_fake
from arena.store import FINISHED, MANIFEST, RunStore
from arena.types import LLMCall

_USUAL_AT_ONCE, _LOCAL_AT_ONCE = 8, 1
"""Calls in flight where the settings do not say: of a server, and of a model in this process."""

_READ_AT_MOST = 500
"""Records, and verdicts, of a run that its pace is taken from."""

_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Pace:
    """Mean seconds that the provider took for a call, retries included, over `n_calls` in a finished run."""

    seconds: float
    n_calls: int
    run_id: str


@dataclass(frozen=True, slots=True)
class ModelWork:
    """Calls to be made of one model, and how they will be made. `tokens` None: unknown; `pace` None: not measured."""

    model: str
    calls: float
    tokens: float | None
    at_once: int
    pace: Pace | None
    requests_per_minute: float | None = None
    tokens_per_minute: int | None = None

    @property
    def hours(self) -> float | None:
        """At the measured pace, or at the limits of its settings where these are slower; a fake model takes none."""
        if is_fake(self.model) or not self.calls:
            return 0.0
        return None if self.pace is None else self.hours_at(self.pace.seconds)

    def hours_at(self, seconds: float) -> float:
        """The hours if a call took so long."""
        bounds = [self.calls * seconds / self.at_once / _HOUR]
        if self.requests_per_minute:
            bounds.append(self.calls / self.requests_per_minute / 60)
        if self.tokens_per_minute and self.tokens is not None:
            bounds.append(self.tokens / self.tokens_per_minute / 60)
        return max(bounds)


def model_work(
    model: str, settings: LLMSettings, config: RunConfig, calls: float, tokens: float | None, pace: Pace | None
) -> ModelWork:
    """The work of a model under its settings. A question makes its calls one after another or a few at a time."""
    usual = _LOCAL_AT_ONCE if model.startswith("local:") else _USUAL_AT_ONCE
    return ModelWork(
        model,
        calls,
        tokens,
        min(settings.concurrency or usual, config.concurrency),
        pace,
        settings.requests_per_minute,
        settings.tokens_per_minute,
    )


def measured_paces(runs_dir: Path, models: AbstractSet[str]) -> dict[str, Pace]:
    """Model -> its pace in the last finished run that asked it, on whatever data. A run that cannot be read is left."""
    found: dict[str, Pace] = {}
    for store in _finished(runs_dir):
        wanted = models - found.keys()
        if not wanted:
            break
        with suppress(RunStoreError):
            seconds: dict[str, list[float]] = {}
            for call in _measured_calls(store):
                if call.model in wanted:
                    seconds.setdefault(call.model, []).append(call.service_seconds)
            found |= {model: Pace(sum(of) / len(of), len(of), store.run_id) for model, of in seconds.items()}
    return found


def _finished(runs_dir: Path) -> list[RunStore]:
    """Finished runs, the last one first."""
    finished: list[tuple[str, str, RunStore]] = []
    for path in runs_dir.glob(f"*/{MANIFEST}"):
        store = RunStore(path.parent)
        with suppress(RunStoreError):
            manifest = store.manifest()
            if manifest["status"] == FINISHED:
                finished.append((manifest["started"], store.run_id, store))
    return [store for _, _, store in sorted(finished, key=lambda run: run[:2], reverse=True)]


def _measured_calls(store: RunStore) -> Iterator[LLMCall]:
    """Calls that were made, not replayed, of the first records and verdicts."""
    records, verdicts = islice(store.records(), _READ_AT_MOST), islice(store.verdicts(), _READ_AT_MOST)
    made = chain((one.calls for one in records), (one.calls for one in verdicts))
    return (call for calls in made for call in calls if not call.replayed)
