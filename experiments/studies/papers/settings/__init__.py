"""What each published figure was made under, a module per paper. See docs/papers.md for what is compared and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from experiments.studies.papers.numbers import PublishedNumber
from experiments.studies.papers.settings import adaptive_rag, crag, flashrag, ircot, musique, ragrouter, self_rag
from experiments.studies.papers.settings.shape import SettingsOf

PAPERS: Mapping[str, Callable[[PublishedNumber], SettingsOf]] = {
    paper.PAPER: paper.settings_of for paper in (self_rag, crag, adaptive_rag, ircot, musique, ragrouter, flashrag)
}
"""Papers with results that a run could be held beside; BGE-M3 and RAGAS are listed and measure something else."""


def settings_of(number: PublishedNumber) -> SettingsOf:
    """The settings of any figure; None where no run could have it."""
    known = PAPERS.get(number.paper)
    return known(number) if known else None
