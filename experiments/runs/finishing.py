"""The last step of a run: journals in order, everything derived from them, the manifest closed."""

from __future__ import annotations

from arena.config import RunConfig
from arena.leaderboard.build import Leaderboard
from arena.store import FINISHED, RunStore
from arena.types import Dataset
from experiments.costs.spending import paid_note
from experiments.manifests.manifest import with_warnings
from experiments.process.clock import now
from experiments.scoring.conclusion import conclude_run
from experiments.terminal.progress import Reporter


def finish(
    store: RunStore, reporter: Reporter, *, dataset: Dataset | None = None, config: RunConfig | None = None
) -> Leaderboard:
    """Seal and conclude a run all of whose questions have a record; only then it is `finished`.

    A finished one is derived anew, and its manifest stays as it is.
    Arguments and errors are those of `experiments.scoring.conclusion.conclude_run`.
    """
    with store.holding():
        store.seal(store.plan().keys())
        board = conclude_run(store, reporter, dataset=dataset, config=config)
        warnings = [one.message for one in board.all_warnings if one.code == "dropped_parameters"]
        for warning in warnings:
            reporter.warn(warning)
        manifest = store.manifest()
        if manifest["status"] != FINISHED:
            ended = manifest | {"status": FINISHED, "finished": now()} | paid_note(store)
            store.write_manifest(with_warnings(ended, warnings))
    return board
