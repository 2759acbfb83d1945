"""`arena papers compare`: a run beside the published figures on the same dataset."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from arena.leaderboard.cells import CellSummary
from arena.leaderboard.schema import MetricSummary
from arena.report.source import Badge, PaperComparison
from arena.store import LEADERBOARD, RunStore
from experiments.papers.comparison_table import print_comparisons
from experiments.papers.differences import Setting, badge_of, settings_beside
from experiments.papers.named_datasets import published_datasets
from experiments.papers.our_run import OurRun, summary_of
from experiments.papers.published import PublishedNumber, published_numbers
from experiments.papers.settings import settings_of
from experiments.papers.settings.shape import Counterpart, NoCounterpart, PaperSettings

__all__ = ["compare_with_papers", "print_comparisons"]


def compare_with_papers(run_folder: Path, data_at: str | None = None) -> tuple[PaperComparison, ...]:
    """Every published result on a dataset of the run's name, each beside the cell whose settings differ least.

    Of cells that differ in as many settings, the first. A system that no strategy here is, or none of the run, has no
    cell. Empty where no paper used such a dataset, and where the run has no leaderboard yet.
    `data_at`: where its dataset lies now (None: where its settings say).

    Raises:
        RunStoreError: there is no run, or its leaderboard is damaged.
    """
    store = RunStore.open(run_folder, data_at)
    if not (store.folder / LEADERBOARD).exists():
        return ()
    run = OurRun.read(store)
    names = published_datasets(run.board.dataset.name)
    rows = []
    for number in published_numbers():
        settings = settings_of(number) if number.dataset in names else None
        if isinstance(settings, NoCounterpart):
            rows.append(_uncompared(number, f"system: {number.system} / {settings.reason}", number.source))
        elif settings is not None:
            rows.append(_beside(number, settings, run))
    return tuple(rows)


def _beside(number: PublishedNumber, settings: PaperSettings, run: OurRun) -> PaperComparison:
    cells = [cell for cell in run.board.cells if any(_is(cell, one) for one in settings.counterparts)]
    source = f"{number.source}; settings: {settings.source}"
    if not cells:
        wanted = " or ".join(map(str, settings.counterparts))
        return _uncompared(number, f"system: {number.system} / no cell of the run is {wanted}", source)
    sets = [settings_beside(settings, cell, run) for cell in cells]
    least = min(range(len(cells)), key=lambda place: (_n_unequal(sets[place]), place))
    badge = badge_of(sets[least])
    ours = summary_of(cells[least], settings.measure)
    return _row(
        number,
        source,
        cell=cells[least].cell,
        ours=ours,
        badge=badge,
        differs=tuple(str(setting) for setting in sets[least] if setting.relation != "equal"),
        inside=_inside(number, ours) if badge == "comparable" else None,
    )


def _n_unequal(settings: Sequence[Setting]) -> tuple[int, int]:
    """How many settings differ, and how many are not known to be equal."""
    relations = [setting.relation for setting in settings]
    return relations.count("differs"), relations.count("unknown")


def _is(cell: CellSummary, counterpart: Counterpart) -> bool:
    wanted = counterpart.params.items()
    return cell.strategy == counterpart.strategy and all(cell.params.get(name) == value for name, value in wanted)


def _inside(number: PublishedNumber, ours: MetricSummary | None) -> bool | None:
    """Whether the published figure lies in our interval; None where there is no interval."""
    if ours is None or ours.ci_low is None or ours.ci_high is None:
        return None
    return ours.ci_low <= number.ratio[0] <= ours.ci_high


def _uncompared(number: PublishedNumber, why: str, source: str) -> PaperComparison:
    return _row(number, source, differs=(why,))


def _row(
    number: PublishedNumber,
    source: str,
    *,
    cell: str | None = None,
    ours: MetricSummary | None = None,
    badge: Badge = "reference only",
    differs: tuple[str, ...],
    inside: bool | None = None,
) -> PaperComparison:
    value, unit = number.ratio
    return PaperComparison(
        paper=number.paper,
        table=number.table,
        dataset=number.dataset,
        system=f"{number.system}, {number.llm}",
        metric=number.metric,
        unit=unit,
        published=value,
        cell=cell,
        ours=ours,
        badge=badge,
        differs=differs,
        inside=inside,
        suspicious=number.suspicious,
        source=source,
    )
