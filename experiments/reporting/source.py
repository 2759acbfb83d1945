"""What a run's page is made of, read from its folder."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from arena.errors import ArenaError
from arena.leaderboard.build import Leaderboard
from arena.report.source import FidelityCard, PageSource, PaperComparison
from arena.scoring import ScoreTable
from arena.store import FINISHED, RunStore, key_of
from arena.types import Dataset, RunRecord
from experiments.reporting.kept_scores import kept_scores
from experiments.run.process import is_imported
from experiments.run.scoring import PastRun, board_of, documents_of, open_past_run, score_run
from experiments.run.start import read_leaderboard
from experiments.studies.papers.compare import compare_with_papers
from experiments.studies.strategies.facts import facts_of
from experiments.terminal.progress import Reporter
from strategies import find_strategy


def page_source(store: RunStore, reporter: Reporter, *, dataset: Dataset | None = None) -> PageSource:
    """A run, ready to be shown; of one that is not finished, what there is.

    A finished run is read as its files have it; where they are of an older version, it is scored anew. Nothing is
    written.

    Args:
        store: its folder.
        reporter: who hears of progress.
        dataset: what was asked (None: loaded again).

    Raises:
        RunStoreError: the folder is damaged, or the data are not what they were.
        DatasetError: they cannot be loaded.
    """
    run = open_past_run(store, dataset)
    finished = run.manifest["status"] == FINISHED
    board, table = _kept(run, reporter) if finished else _so_far(run)
    planned = set(run.plan.keys())

    def records() -> Iterator[RunRecord]:
        return (record for record in store.records() if key_of(record) in planned)

    return PageSource(
        board=board,
        table=table,
        dataset=run.dataset,
        documents=documents_of(run),
        manifest=run.manifest,
        records=records,
        verdicts=store.verdicts,
        prices=run.prices,
        cards=fidelity_cards(board),
        papers=_papers(store, reporter) if finished else (),
        reproduce=reproduction(store, run.manifest),
        live=not finished,
    )


def fidelity_cards(board: Leaderboard) -> tuple[FidelityCard, ...]:
    """The card of each strategy of a run; one that is not installed any more has none."""
    cards = []
    for name in dict.fromkeys(cell.strategy for cell in board.cells):
        try:
            facts = facts_of(find_strategy(name))
        except ArenaError:
            continue
        clauses = tuple((one.says, one.status, one.how) for one in facts.clauses)
        cards.append(FidelityCard(name, facts.summary, facts.paper, facts.tier, clauses))
    return tuple(cards)


def reproduction(store: RunStore, manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """The commands that make the run and this page again, from its settings as the page shows them."""
    libraries = manifest.get("libraries") or {}
    version = libraries.get("rag-strategy-arena")
    folder = shlex.quote(str(store.folder.name))
    commit = (manifest.get("git") or {}).get("commit")
    again = f"arena run settings.json --run-id {folder}-again      # settings.json: the settings below"
    if is_imported(manifest):
        data = shlex.quote(manifest["config"]["dataset"])
        again = f"arena import FILE ... --dataset {data}      # the files that it was made of"
    return (
        *([f"pip install rag-strategy-arena=={version}"] if version and not commit else []),
        *([f"git checkout {shlex.quote(str(commit))}"] if commit else []),
        again,
        f"arena score runs/{folder}      # the same scores, from the answers that were kept",
        f"arena report runs/{folder}",
    )


def _kept(run: PastRun, reporter: Reporter) -> tuple[Leaderboard, ScoreTable]:
    board = read_leaderboard(run.store)
    if board.planes is not None:
        reporter.say("reading the scores ...")
        return board, kept_scores(run, judged=bool(board.judges))
    reporter.say("scoring anew: leaderboard.json is of an older version ...")
    return _so_far(run)


def _so_far(run: PastRun) -> tuple[Leaderboard, ScoreTable]:
    table = score_run(run)
    return board_of(run, table), table


def _papers(store: RunStore, reporter: Reporter) -> tuple[PaperComparison, ...]:
    reporter.say("looking up published figures ...")
    return compare_with_papers(store.folder, store.data_at)
