"""What goes into a page beside the run: scripts, styles, and Plotly.js packed."""

from __future__ import annotations

import base64
import gzip
from functools import cache
from importlib.resources import files

SCRIPTS = (
    "arena.js",
    "theme.js",
    "leaderboard.js",
    "axes.js",
    "lazy.js",
    "plane.js",
    "lines.js",
    "bars.js",
    "boxes.js",
    "print.js",
)
STYLES = ("base.css", "layout.css", "tables.css", "figures.css", "print.css")


def scripts() -> str:
    """The page's own scripts, in their order."""
    return _joined("scripts", SCRIPTS)


def styles() -> str:
    """The page's own styles, in their order."""
    return _joined("styles", STYLES)


@cache
def plotly() -> tuple[str, str]:
    """Plotly.js as the installed package has it, and the same as base64 of gzip; the same bytes every time."""
    from plotly.offline import get_plotlyjs

    source = get_plotlyjs()
    return source, pack(source)


def pack(text: str) -> str:
    """Base64 of gzip of a text; the same text gives the same bytes."""
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def _joined(folder: str, names: tuple[str, ...]) -> str:
    place = files("arena.report.page") / folder
    return "\n".join((place / name).read_text(encoding="utf-8") for name in names)
