"""One point of a sweep as one run: what another point has is taken over, the rest is asked."""

from __future__ import annotations

from collections.abc import Sequence

from arena.leaderboard.build import Leaderboard
from arena.store import FINISHED, RunStore
from experiments.run.manifest import check_version, new_manifest
from experiments.run.prepare import Prepared
from experiments.run.process import now
from experiments.run.start import finish, resume, start
from experiments.sweeping.folder import SweepFolder
from experiments.sweeping.identity import CellIdentity, of_prepared, of_store
from experiments.sweeping.point import Point
from experiments.sweeping.preparing import PointPreparer
from experiments.sweeping.reuse import REUSED, Donor, Source, find_source, take_over
from experiments.terminal.progress import Reporter


def run_point(
    point: Point, folder: SweepFolder, done: Sequence[str], preparer: PointPreparer, reporter: Reporter
) -> Leaderboard:
    """Begin the run of a point or go on with it; one that is finished is only derived anew.

    Args:
        point: what to run.
        folder: the sweep's, held.
        done: names of the points whose records may be taken over.
        preparer: makes it ready.
        reporter: who hears of progress.

    Raises:
        RunInterrupted: it was stopped, by the user or by an error that only the user can mend.
        RunStoreError: its folder was made under other settings.
    """
    store = folder.store(point.name)
    if folder.has(point.name):
        check_version(store)
        manifest = store.manifest()
        if manifest["status"] == FINISHED and manifest["config"] == point.config.model_dump(mode="json"):
            return finish(store, reporter, config=point.config)
    prepared = preparer.prepare(point.config)
    taken = _take_over(prepared, store, folder, done, reporter)
    began = taken or folder.has(point.name)
    return (resume(prepared, store, reporter) if began else start(prepared, reporter)).board


def donors_of(folder: SweepFolder, names: Sequence[str]) -> list[Donor]:
    """Those of the points that have a run folder, with what they asked themselves."""
    found = []
    for name in names:
        if folder.has(name):
            store = folder.store(name)
            cells = of_store(store)
            taken = store.manifest().get(REUSED, {})
            measured = frozenset(cell.planned.cell.key for cell in cells if cell.planned.cell.key not in taken)
            found.append(Donor(name, cells, measured))
    return found


def _take_over(
    prepared: Prepared, store: RunStore, folder: SweepFolder, done: Sequence[str], reporter: Reporter
) -> bool:
    """Fill the journal with what other points have; whether there was anything. The folder is made if it must be."""
    donors = donors_of(folder, done)
    found = [(cell, find_source(cell, donors)) for cell in of_prepared(prepared)]
    sources = [(cell, source) for cell, source in found if source is not None]
    if not sources:
        return False
    if not folder.has(store.run_id):
        with store.creating(new_manifest(prepared, now()), prepared.plan):
            pass
    with store.holding():
        known = store.lines() or {}  # of a run that is given more cells now, those are asked
        for cell, source in sources:
            if cell.planned.cell.key in known:
                _take_cell(store, cell, source, folder.store(source.point), reporter)
    return True


def _take_cell(store: RunStore, cell: CellIdentity, source: Source, donor: RunStore, reporter: Reporter) -> None:
    """Where records come from is written down before they come, so that a kill leaves none of unknown origin."""
    planned = cell.planned.cell
    note = {"point": source.point, "how": source.how, "cell": source.cell.planned.cell.key}
    manifest = store.manifest()
    taken = manifest.get(REUSED, {})
    if planned.key not in taken and any(key == planned.key for key, _ in store.done()):
        return  # begun when there was nothing to take over
    store.write_manifest(manifest | {REUSED: taken | {planned.key: note}})
    if number := take_over(store, cell, source, donor):
        reporter.say(f"{planned.strategy} {planned.retrieval_mode}: {number} records {source.how} from {source.point}")
