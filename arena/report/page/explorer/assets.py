"""The files of the explorer: its part of the page, its scripts as one, its styles."""

from __future__ import annotations

from importlib.resources import files

SCRIPTS = (
    "codec.js",
    "archive.js",
    "chunk.js",
    "dom.js",
    "search.js",
    "list.js",
    "passage.js",
    "retrieval.js",
    "steps.js",
    "pane.js",
    "question.js",
    "address.js",
    "start.js",
)
STYLES = ("explorer.css", "sides.css")


def page_part() -> str:
    """The explorer's HTML; nothing of it comes from the run."""
    return _read("explorer.html")


def scripts() -> str:
    """All scripts in one function, so that no name of theirs is a name of the page."""
    joined = "\n".join(_read(f"scripts/{name}") for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{joined}\n}})();\n'


def styles() -> str:
    """The explorer's styles."""
    return "\n".join(_read(f"styles/{name}") for name in STYLES)


def _read(name: str) -> str:
    return (files("arena.report.page.explorer") / name).read_text(encoding="utf-8")
