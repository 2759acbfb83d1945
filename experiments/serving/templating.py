"""The server's own pages. Names out of run folders are escaped."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from arena.report.figures import UNDEFINED, metric_text
from experiments.serving.progress import HEADLINE, RunProgress, StudyProgress

if TYPE_CHECKING:
    from jinja2 import Environment

STATIC = {"live.js": "text/javascript", "theme.js": "text/javascript", "arena.css": "text/css"}
"""What pages load beside themselves -> its type."""


def index_page(runs_dir: str, runs: list[RunProgress], studies: list[StudyProgress]) -> str:
    """The list of runs and studies. While one of them goes on, the browser asks for it again by itself."""
    rows = [(run, {metric: _best(run, metric) for metric in HEADLINE}) for run in runs]
    running = any(run.status == "running" or run.reading for run in runs)
    template = _environment().get_template("index.html")
    return template.render(runs_dir=runs_dir, rows=rows, metrics=HEADLINE, running=running, studies=studies)


def live_page(run: RunProgress, again: str) -> str:
    """A run that is not finished, kept up to date by its script. `again`: the command that goes on with it."""
    return _environment().get_template("live.html").render(run=run, again=again)


def making_page(run_id: str) -> str:
    """A report that is not there yet. The browser asks for it again by itself."""
    return _environment().get_template("making.html").render(run_id=run_id)


def damaged_page(run_id: str, problem: str) -> str:
    """A run that cannot be shown, and why."""
    return _environment().get_template("damaged.html").render(run_id=run_id, problem=problem)


@cache
def static_text(name: str) -> str:
    """A script or the style sheet; KeyError for a name that is not in STATIC."""
    STATIC[name]
    pages = files("experiments") / "serving" / "pages"
    if name != "arena.css":
        return (pages / name).read_text(encoding="utf-8")
    base = files("arena") / "report" / "page" / "styles" / "base.css"
    return base.read_text(encoding="utf-8") + (pages / "serve.css").read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("experiments.serving", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )


def _best(run: RunProgress, metric: str) -> tuple[str, str, bool]:
    """(figure, the cell that has it, whether it is of a fake model's answers and says nothing)."""
    best = run.best(metric)
    if best is None:
        return UNDEFINED, "", False
    cell, summary = best
    return metric_text(summary), cell.name, cell.fake and metric.startswith("answer_")
