"""All checks of a run, in the order in which a reader should look at them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from arena.config import RunConfig, validate_config
from arena.errors import UserError
from arena.store import (
    CALLS,
    FINISHED,
    LEADERBOARD,
    MANIFEST,
    PAID,
    QUESTIONS,
    RECORDS,
    REPORT,
    SCORES,
    VERDICTS,
    RunStore,
)
from arena.types import Dataset
from experiments.run.manifest import check_version
from experiments.run.scoring import data_of, open_past_run
from experiments.verification.check import Check, attempted, several
from experiments.verification.here import check_here, check_index, check_weights
from experiments.verification.journals import check_kept, check_others, check_payments, check_records, check_verdicts
from experiments.verification.results import check_calls, check_report, check_results
from experiments.verification.settings import (
    check_contestants,
    check_dataset,
    check_fingerprints,
    check_judge,
    check_model,
    check_prices,
    check_seal,
    check_sessions,
    check_settings,
)

_SCORED = (LEADERBOARD, SCORES, QUESTIONS)
"""Files that take the dataset to derive."""


def verify_run(folder: Path, data_at: str | None = None) -> list[Check]:
    """Every check of the run in `folder`, whose dataset lies at `data_at` (None: where its settings say).

    Raises:
        RunStoreError: its manifest or plan cannot be read, so that there is nothing to check against.
        ConfigError: the settings in its manifest are none.
    """
    store = RunStore.open(folder, data_at)
    check_version(store)
    manifest, plan = store.manifest(), store.whole_plan()
    config = validate_config(manifest["config"], f"run {store.run_id!r}")
    checks = [*several("status", check_sessions(manifest))]
    checks.append(attempted(MANIFEST, partial(check_seal, store)))
    checks.append(attempted("settings", partial(check_settings, manifest, config)))
    checks.append(attempted("fingerprints", partial(check_fingerprints, manifest, plan)))
    checks.append(attempted("code and prompts", partial(check_contestants, manifest)))
    checks.append(attempted("model file", partial(check_model, manifest, config)))
    checks.append(attempted("prices", partial(check_prices, manifest, config)))
    checks += several("judge", check_judge(manifest, config))
    checks += several("weights", check_weights(manifest, config))
    checks.append(attempted(RECORDS, partial(check_records, store)))
    checks.append(attempted(VERDICTS, partial(check_verdicts, store)))
    checks += several("journals", check_others(store))
    checks += several("kept", check_kept(store))
    checks.append(attempted(PAID, partial(check_payments, store, manifest, config)))
    checks += _on_data(store, manifest, config)
    if manifest["status"] == FINISHED:
        checks.append(attempted(CALLS, partial(check_calls, store)))
    return [*checks, *several("libraries", check_here(manifest))]


def _on_data(store: RunStore, manifest: Mapping[str, Any], config: RunConfig) -> Iterator[Check]:
    """What takes the dataset."""
    try:
        dataset = data_of(store, config.dataset)
    except UserError as error:
        yield Check("dataset", "not checked", (str(error),))
        yield from (Check(name, "not checked", ("its dataset is not to be had",)) for name in _SCORED)
        return
    yield attempted("dataset", partial(check_dataset, manifest, store.whole_plan(), dataset))
    if manifest["identity"].get("index"):
        yield attempted("index", partial(check_index, manifest, config, dataset))
    if manifest["status"] != FINISHED:
        yield from (Check(name, "not checked", ("the run is not finished",)) for name in _SCORED)
    else:
        results = list(several(LEADERBOARD, _results(store, dataset)))
        yield from results
        if all(check.state == "ok" for check in results):
            yield from several(REPORT, check_report(store))
        elif (store.folder / REPORT).exists():
            yield Check(REPORT, "not checked", ("it is made of files that differ",))


def _results(store: RunStore, dataset: Dataset) -> Iterator[Check]:
    yield from check_results(open_past_run(store, dataset))
