"""Pages made by hand, and what is read back from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser

from arena.leaderboard.build import build_leaderboard
from arena.report.figures import Phrase
from arena.report.source import PageSource, PaperComparison, StrategyCard
from arena.scoring import score_records
from arena.types import Dataset, RunRecord


def page_of(
    dataset: Dataset,
    records: Sequence[RunRecord],
    *,
    run_id: str = "r1",
    live: bool = False,
    cards: Sequence[StrategyCard] = (),
    papers: Sequence[PaperComparison] = (),
) -> PageSource:
    """A run of these records, ready to be shown."""
    table = score_records(records, dataset)
    return PageSource(
        board=build_leaderboard(table, dataset, run_id=run_id, fingerprint="run_0", tiers={}, seed=0),
        table=table,
        dataset=dataset,
        documents={one.doc_id: one for one in dataset.documents},
        manifest={"started": "2026-01-02T03:04:05+00:00", "config": {"seed": 0, "dataset": dataset.name}},
        records=lambda: iter(records),
        verdicts=lambda: iter(()),
        cards=cards,
        papers=papers,
        reproduce=(f"arena report runs/{run_id}",),
        live=live,
    )


def said(phrases: Iterable[Phrase]) -> str:
    """Sentences as a reader sees them."""
    return " ".join("".join(part if isinstance(part, str) else part.text for part in phrase) for phrase in phrases)


@dataclass
class ReadPage(HTMLParser):
    """What an HTML parser finds. `figures`: (path, rule, text) of every quoted figure; `raw`: id -> script or style."""

    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    figures: list[tuple[str, str, str]] = field(default_factory=list)
    raw: dict[str, str] = field(default_factory=dict)
    text: str = ""
    _open: list[list[str]] = field(default_factory=list)
    _raw: str | None = None

    @classmethod
    def of(cls, html: str) -> ReadPage:
        page = cls()
        HTMLParser.__init__(page, convert_charrefs=True)
        page.feed(html)
        page.close()
        return page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.elements.append((tag, found))
        if tag in ("script", "style"):
            self._raw = found.get("id") or tag
            self.raw[self._raw] = ""
        elif "data-path" in found:
            self._open.append([tag, str(found["data-path"]), str(found["data-rule"]), ""])
        elif self._open and tag == self._open[-1][0]:
            raise AssertionError("a figure holds no other element of its kind")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._raw = None
        elif self._open and self._open[-1][0] == tag:
            _, path, rule, text = self._open.pop()
            self.figures.append((path, rule, text))

    def handle_data(self, data: str) -> None:
        if self._raw is not None:
            self.raw[self._raw] += data
            return
        self.text += data
        if self._open:
            self._open[-1][3] += data
