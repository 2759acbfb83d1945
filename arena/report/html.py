"""A run as one HTML file that needs nothing else: no network, no script from its data."""

from __future__ import annotations

from functools import cache
from typing import Any

from markupsafe import Markup

from arena.llm.providers import is_fake
from arena.report import source as assets
from arena.report.console import sections_of
from arena.report.explorer.section import explorer_island
from arena.report.names import Mark, marks_of
from arena.report.sections.breakdown import heat_grids, hops
from arena.report.sections.failures import failures_figure
from arena.report.sections.headline import headline
from arena.report.sections.leaderboard import board_view
from arena.report.sections.limits import caption, legend, limits, warnings
from arena.report.sections.provenance import card_views, papers_grid, provenance
from arena.report.sections.spending import latency, planes, roles
from arena.report.source import PageSource, content_policy, island


def render(source: PageSource) -> str:
    """The page. The same source gives the same bytes."""
    script, style = assets.scripts(), assets.styles()
    plotly, packed = assets.plotly()
    page = _environment().get_template("page.html.j2")
    rendered: str = page.render(
        **_views(source),
        explorer_island=explorer_island(source),
        explorer_html=Markup(assets.asset("explorer/explorer.html")),
        policy=content_policy((script, plotly), style),
        script=Markup(script),
        style=Markup(style),
        plotly=packed,
    )
    return rendered


def _views(source: PageSource) -> dict[str, Any]:
    board, marks = source.board, marks_of(source.board)
    shown: dict[str, Any] = {
        "board": board,
        "live": source.live,
        "dry_run": any(cell.llm and is_fake(cell.llm) for cell in board.cells),
        "caption": caption(board),
        "legend": legend(board),
        "headline": headline(board, marks),
        "warnings": warnings(board),
        "table": board_view(board, marks),
        "plane": planes(board, marks),
        "heats": heat_grids(board, marks),
        "hops": hops(board, marks),
        "roles": roles(board, marks),
        "latency": latency(board, marks),
        "cards": card_views(board, marks, source.cards),
        "papers": papers_grid(board, marks, source.papers),
        "limits": limits(board, marks, source.manifest),
        "provenance": provenance(board, source.manifest, source.reproduce),
        **sections_of(board, marks),
    }
    figures = _figures(shown, marks) | {"failures": failures_figure(board, marks)}
    return shown | {"marks": marks, "island": island(figures)}


def _figures(shown: dict[str, Any], marks: tuple[Mark, ...]) -> dict[str, Any]:
    """What scripts draw and filter."""
    drawn = ("plane", "hops", "roles", "latency")
    return {
        "cells": [
            {"name": one.name, "strategy": one.strategy, "mode": one.mode, "hue": one.hue, "shape": one.shape}
            for one in marks
        ],
        "groups": shown["table"]["groups"],
        "metrics": shown["table"]["metrics"],
        **{name: shown[name].drawn for name in drawn if shown[name] is not None},
    }


@cache
def _environment() -> Any:
    """With the templates it has compiled, which takes as long as filling them in."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("arena.report", "page/templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
