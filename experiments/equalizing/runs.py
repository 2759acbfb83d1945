"""Ordinary runs: each begun, gone on with, or read where it is finished."""

from __future__ import annotations

from types import TracebackType

from arena.config import RunConfig
from arena.errors import RunInterrupted
from arena.leaderboard.build import Leaderboard
from arena.store import FINISHED, MANIFEST, RunStore
from experiments.run.manifest import check_version
from experiments.run.start import read_leaderboard, resume, start
from experiments.sweeping.preparing import PointPreparer
from experiments.terminal.progress import Reporter


class WarnsOnce(Reporter):
    """Says nothing but warnings, and each of them once, however many runs give it."""

    def say(self, text: str) -> None:
        """Nothing."""

    def warn(self, text: str) -> None:
        if text not in self.warnings:
            super().warn(text)


class Runs:
    """Makes runs one after the other; those that differ only in how they retrieve share one open index."""

    def __init__(self, reporter: WarnsOnce) -> None:
        self._reporter = reporter
        self._preparer = PointPreparer(reporter)

    def run(self, config: RunConfig) -> tuple[RunStore, Leaderboard]:
        """The run that `config` places and names. A finished one is only read, and asks nothing.

        Raises:
            RunInterrupted: it was stopped; the message says that all goes on with the same command.
            RunStoreError: its folder was made under other settings.
        """
        store = RunStore(config.runs_dir / str(config.run_id))
        begun = (store.folder / MANIFEST).is_file()
        if begun:
            check_version(store)
            manifest = store.manifest()
            if manifest["status"] == FINISHED and manifest["config"] == config.model_dump(mode="json"):
                return store, read_leaderboard(store)
        prepared = self._preparer.prepare(config)
        try:
            outcome = resume(prepared, store, self._reporter) if begun else start(prepared, self._reporter)
        except RunInterrupted as error:
            raise RunInterrupted(f"{error}\nThe same `arena equalize` command goes on with all of it.") from error
        return store, outcome.board

    def n_passages(self, config: RunConfig) -> int:
        """Of the index that `config` searches."""
        prepared = self._preparer.prepare(config)
        return int(prepared.equipment.index_facts["passages"]) if prepared.equipment else 0

    def __enter__(self) -> Runs:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._preparer.close()


def n_cut(store: RunStore) -> int:
    """Questions of a run that were ended by an allowance."""
    return sum(any(one.node == "allowance" for one in record.decisions) for record in store.records())
