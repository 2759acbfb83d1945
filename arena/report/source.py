"""What a page is made of: a run folder read once, scripts and styles, the policy that names them, data as JSON."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from markupsafe import Markup

from arena.leaderboard.build import Leaderboard
from arena.leaderboard.schema import MetricSummary
from arena.prices import PriceTable
from arena.scoring import ScoreTable
from arena.types import Dataset, Document, RunRecord, Verdict

Badge = Literal["comparable", "near", "reference only"]
"""How far a published figure and ours may be held side by side."""


@dataclass(frozen=True, slots=True)
class StrategyCard:
    """A strategy of the run beside its paper. `clauses`: (what the paper says, what is done here, why it differs)."""

    strategy: str
    summary: str
    paper: str | None
    tier: str | None
    clauses: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class PaperComparison:
    """One published figure beside one cell.

    `published` and `ours` are ratios or counts in the unit of `unit`; `ours` is None where no metric of the run
    corresponds. `differs`: each setting that is not the paper's, as `setting: theirs / ours`. `inside`: whether the
    published figure lies inside our interval; None where the badge does not allow to say so. `suspicious`: why the
    published figure is doubted.
    """

    paper: str
    table: str
    dataset: str
    system: str
    metric: str
    unit: str
    published: float
    cell: str | None
    ours: MetricSummary | None
    badge: Badge
    differs: tuple[str, ...] = ()
    inside: bool | None = None
    suspicious: str | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class PageSource:
    """One run, ready to be shown.

    `records` and `verdicts` are read again at each call, so that a large run is never held whole. `prices`: what its
    calls cost (None: nothing has a known price). `reproduce`: the
    commands that make this run and this page again. `live`: the run is not finished, and this is what there is.
    """

    board: Leaderboard
    table: ScoreTable
    dataset: Dataset
    documents: Mapping[str, Document]
    manifest: Mapping[str, Any]
    records: Callable[[], Iterator[RunRecord]]
    verdicts: Callable[[], Iterator[Verdict]]
    prices: PriceTable | None = None
    cards: Sequence[StrategyCard] = ()
    papers: Sequence[PaperComparison] = ()
    reproduce: Sequence[str] = ()
    live: bool = False


SCRIPTS = "arena theme leaderboard axes lazy plane lines bars boxes print"
EXPLORER_SCRIPTS = "archive chunk dom search list passage retrieval steps pane question address start"
STYLES = "base layout tables figures print"
EXPLORER_STYLES = "explorer sides"
"""Names of files, in the order in which the page has them."""


def scripts() -> str:
    """The page's own scripts."""
    return f"{_joined('scripts/{}.js', SCRIPTS)}\n{explorer_scripts()}"


def explorer_scripts() -> str:
    """Those of the explorer, all in one function, so that no name of theirs is a name of the page."""
    return f'(() => {{\n"use strict";\n{_joined("explorer/scripts/{}.js", EXPLORER_SCRIPTS)}\n}})();\n'


def styles() -> str:
    """The page's own styles."""
    return f"{_joined('styles/{}.css', STYLES)}\n{_joined('explorer/styles/{}.css', EXPLORER_STYLES)}"


@cache
def plotly() -> tuple[str, str]:
    """Plotly.js as the installed package has it, and the same as base64 of gzip; the same bytes every time."""
    from plotly.offline import get_plotlyjs

    source = get_plotlyjs()
    return source, base64.b64encode(gzip.compress(source.encode(), 9, mtime=0)).decode()


def _joined(path: str, names: str) -> str:
    return "\n".join(asset(path.format(name)) for name in names.split())


def asset(name: str) -> str:
    """A text file of the page's own, by its path under `page`."""
    return (files("arena.report") / "page" / name).read_text(encoding="utf-8")


_PLOTLY_STYLE = ""
"""Plotly makes an empty style element and fills it rule by rule, which a policy cannot tell from none."""


def source_hash(text: str) -> str:
    """As a policy writes it: `'sha256-...'`."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def content_policy(scripts: Iterable[str], style: str) -> str:
    """The policy of a page with these inline scripts and this inline style, to the byte."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(map(source_hash, scripts))}",
            f"style-src {source_hash(style)} {source_hash(_PLOTLY_STYLE)}",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def island(content: Any) -> Markup:
    """`content` as JSON that is the same in any HTML parser. NaN is refused with ValueError."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup("".join(_ESCAPES.get(one, one) for one in text) if set(text) & _ESCAPES.keys() else text)
