"""The report's file: beside the run, or where it is wanted."""

from __future__ import annotations

from pathlib import Path

from arena.errors import ArenaError
from arena.report.html import render
from arena.store import REPORT, RunStore, write_page
from arena.types import Dataset
from experiments.reporting.source import page_source
from experiments.run.process import no_pauses
from experiments.terminal.progress import Reporter


def write_report(
    run_folder: Path,
    out: Path | None,
    reporter: Reporter,
    *,
    dataset: Dataset | None = None,
    data_at: str | None = None,
) -> Path:
    """Write a run's page, and return where it is.

    Args:
        run_folder: the run; it need not be finished.
        out: the file (None: report.html in the run folder).
        reporter: who hears of progress.
        dataset: what was asked (None: loaded again).
        data_at: where its dataset lies now (None: where its settings say).

    Raises:
        RunStoreError: no run, a damaged one, or the file cannot be written.
        DatasetError: the run's data cannot be loaded.
    """
    store = RunStore.open(run_folder, data_at)
    target = out if out is not None else store.folder / REPORT
    with no_pauses():
        source = page_source(store, reporter, dataset=dataset)
        if source.live:
            reporter.warn(f"run {store.run_id!r} is not finished: the report shows what there is")
        reporter.say("writing the report ...")
        write_page(target, render(source))
    return target


def report_of(store: RunStore, reporter: Reporter) -> Path | None:
    """The page of a run that was just finished.

    None for a shard, whose figures mean nothing by themselves, and where the page could not be written: that is said,
    and loses nothing.
    """
    if store.whole_plan().shard is not None:
        return None
    try:
        return write_report(store.folder, None, reporter)
    except (ArenaError, OSError, ValueError, TypeError, LookupError) as error:
        reporter.warn(f"the report was not written ({type(error).__name__}: {error}); the run folder has everything")
        return None
