"""A run as one HTML file that needs nothing else: no network, no script from its data."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from arena.llm.providers import is_fake
from arena.report import source as assets
from arena.report.explorer.section import ExplorerSection, explorer_section
from arena.report.names import Mark, marks_of
from arena.report.sections.breakdown import breakdown_grids, heat_grids, hop_view
from arena.report.sections.comparisons import comparisons_view
from arena.report.sections.contamination import contamination_view
from arena.report.sections.controllers import controllers_view
from arena.report.sections.failures import failures_view, symptoms_view
from arena.report.sections.headline import headline
from arena.report.sections.judges import abstention_grid, judges_grid
from arena.report.sections.leaderboard import board_view
from arena.report.sections.limits import caption, legend, limits, warnings
from arena.report.sections.provenance import card_views, papers_grid, provenance
from arena.report.sections.spending import latency_view, plane_view, roles_view
from arena.report.source import PageSource, content_policy, island


def render(source: PageSource) -> str:
    """The page. The same source gives the same bytes."""
    explorer = explorer_section(source)
    script = f"{assets.scripts()}\n{explorer.script}"
    style = f"{assets.styles()}\n{explorer.style}"
    plotly, packed = assets.plotly()
    page = _environment().get_template("page.html.j2")
    rendered: str = page.render(
        **_views(source),
        explorer=explorer,
        explorer_html=Markup(explorer.html),
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
        "warnings": warnings(board, marks),
        "table": board_view(board, marks),
        "plane": plane_view(board, marks),
        "heats": heat_grids(board, marks),
        "comparisons": comparisons_view(board, marks),
        "hops": hop_view(board, marks),
        "breakdowns": breakdown_grids(board, marks),
        "failures": failures_view(board, marks),
        "symptoms": symptoms_view(board, marks),
        "roles": roles_view(board, marks),
        "latency": latency_view(board, marks),
        "contamination": contamination_view(board, marks),
        "controllers": controllers_view(board, marks),
        "judges": judges_grid(board),
        "abstention": abstention_grid(board, marks),
        "cards": card_views(board, marks, source.cards),
        "papers": papers_grid(board, marks, source.papers),
        "limits": limits(board, marks, source.manifest),
        "provenance": provenance(board, source.manifest, source.reproduce),
    }
    return shown | {"marks": marks, "island": island(_figures(shown, marks))}


def _figures(shown: dict[str, Any], marks: tuple[Mark, ...]) -> dict[str, Any]:
    """What scripts draw and filter."""
    drawn = ("plane", "hops", "failures", "roles", "latency")
    return {
        "cells": [
            {"name": one.name, "strategy": one.strategy, "mode": one.mode, "hue": one.hue, "shape": one.shape}
            for one in marks
        ],
        "groups": shown["table"].groups,
        "metrics": shown["table"].metrics,
        **{name: shown[name].figure for name in drawn if shown[name] is not None},
    }


def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("arena.report", "page/templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


__all__ = ["ExplorerSection", "render"]
