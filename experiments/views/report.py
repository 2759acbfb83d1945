"""`arena report`: read what a run's page is made of from its folder, and write the page there or elsewhere.

The scores come from the derived files, so that a report need not score a finished run again.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from arena.accounting import Account, Spend, Total
from arena.errors import ArenaError
from arena.judges.reading import JudgeCounts
from arena.leaderboard.build import Leaderboard, read_leaderboard
from arena.metrics.failures import FailureFinding
from arena.plan import Key
from arena.report.html import render
from arena.report.source import PageSource, PaperComparison, StrategyCard
from arena.scoring import CellScores, ScoreTable, Usage
from arena.store import FINISHED, QUESTIONS, REPORT, SCORES, RunStore, key_of
from arena.store.files import replace_text
from arena.store.runs import is_imported
from arena.types import Dataset, RunRecord, Score
from experiments.execution.process import no_pauses
from experiments.execution.scoring import PastRun, board_of, documents_of, open_past_run, score_run
from experiments.studies.papers.compare import compare_with_papers
from experiments.studies.strategies.facts import facts_of
from experiments.terminal.progress import Reporter
from strategies import find_strategy


def kept_scores(run: PastRun, *, judged: bool) -> ScoreTable:
    """Scores, outcomes, failure classes, answers and usage of every question, cells in the order of the plan.

    What only a leaderboard is made of is not kept: decisions, controllers, calls by role, what judges' calls took. Of
    money and tokens there are the sums.

    Raises:
        RunStoreError: scores.parquet or questions.parquet is missing or damaged.
    """
    scores = _scores(run.store.read_table(SCORES))
    table = {planned.cell.key: CellScores(planned.cell) for planned in run.plan.cells}
    columns = run.store.read_table(QUESTIONS)
    for row in zip(*columns.values(), strict=True):
        question = dict(zip(columns, row, strict=True))
        key, question_id = question["cell"], question["question_id"]
        if key in table:
            cell = table[key]
            cell.scores[question_id] = scores.get((key, question_id), ())
            cell.usage[question_id] = _usage(question)
            cell.answers[question_id] = question["answer"]
            if question["failure"] is not None:
                cell.failures[question_id] = FailureFinding(question["failure"], question["hop"], question["document"])
    return ScoreTable(tuple(cell for cell in table.values() if cell.scores), JudgeCounts() if judged else None)


class _Shared(dict[tuple[Any, ...], Score]):
    """(metric, value, reason) -> the score, held once."""

    def __missing__(self, said: tuple[Any, ...]) -> Score:
        self[said] = Score(*said)
        return self[said]


def _scores(columns: Mapping[str, Sequence[Any]]) -> dict[Key, tuple[Score, ...]]:
    """(cell key, question id) -> scores, which stand together in the table."""
    places = zip(columns["cell"], columns["question_id"], strict=True)
    said = zip(columns["metric"], columns["value"], columns["reason"], strict=True)
    scores = map(_Shared().__getitem__, said)
    together = groupby(zip(places, scores, strict=True), key=itemgetter(0))
    return {place: tuple(score for _, score in group) for place, group in together}


def _usage(question: Mapping[str, Any]) -> Usage:
    spent = Spend(
        calls=question["calls"],
        attempts=question["calls"],
        input_tokens=_total(question["input_tokens"]),
        output_tokens=_total(question["output_tokens"]),
        usd=_total(question["usd"]),
    )
    return Usage(
        outcome=question["outcome"],
        latency_seconds=question["seconds"],
        measured=question["measured"],
        account=Account(paid=spent),
        retrievals=question["retrievals"],
        truncated=question["truncated"],
        warm_up=question["warm_up"],
    )


def _total(known: float | None) -> Total:
    return Total(0, 1) if known is None else Total(known)


def page_source(store: RunStore, reporter: Reporter, *, dataset: Dataset | None = None) -> PageSource:
    """A run, ready to be shown; of one that is not finished, what there is.

    A finished run is read as its files have it; where they are of an older version, it is scored anew. Nothing is
    written.

    `dataset`: what was asked (None: loaded again).

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


def fidelity_cards(board: Leaderboard) -> tuple[StrategyCard, ...]:
    """The card of each strategy of a run; one that is not installed any more has none."""
    cards = []
    for name in dict.fromkeys(cell.strategy for cell in board.cells):
        try:
            facts = facts_of(find_strategy(name))
        except ArenaError:
            continue
        clauses = tuple((one.says, one.status, one.how) for one in facts.clauses)
        cards.append(StrategyCard(name, facts.summary, facts.paper, facts.tier, clauses))
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


def write_report(
    run_folder: Path,
    out: Path | None,
    reporter: Reporter,
    *,
    dataset: Dataset | None = None,
    data_at: str | None = None,
) -> Path:
    """Write a run's page, and return where it is.

    The run need not be finished. `out`: the file (None: report.html in the run folder). `dataset`: what was asked
    (None: loaded again). `data_at`: where its dataset lies now (None: where its settings say).

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
        replace_text(target, render(source))
    return target


def renew_report(run_folder: Path, reporter: Reporter, data_at: str | None = None) -> None:
    """Write the page of a run anew whose scores have changed, where it has one."""
    store = RunStore.open(run_folder, data_at)
    if (store.folder / REPORT).exists():
        report_of(store, reporter)


def report_of(store: RunStore, reporter: Reporter) -> Path | None:
    """The page of a run that was just finished, or scored anew.

    None for a shard, whose figures mean nothing by themselves, and where the page could not be written: that is said,
    and loses nothing.
    """
    if store.whole_plan().shard is not None:
        return None
    try:
        return write_report(store.folder, None, reporter, data_at=store.data_at)
    except (ArenaError, OSError, ValueError, TypeError, LookupError) as error:
        reporter.warn(f"the report was not written ({type(error).__name__}: {error}); the run folder has everything")
        return None
