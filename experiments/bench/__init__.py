"""`arena bench NAME`: this project's own speed and memory on this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from arena.errors import UnknownNameError
from experiments.bench.process import Figures, Say, apart, measure_embedding, measure_startup, world_figures

_QUICK_SIZES = (5_000, 21_100)

Bench = Callable[[bool, Say], Figures]


def _of(module: str, name: str, *quick: Any) -> Bench:
    """`measure_NAME`, given `quick` to leave out the largest sizes.

    Its module is imported when it is called: a process that measures one thing loads nothing of the others.
    """

    def run(is_quick: bool, say: Say) -> Figures:
        measured = getattr(import_module(f"{__name__}.{module}"), f"measure_{name}")
        figures: Figures = measured(*(quick if is_quick else ()), say=say)
        return figures

    return run


BENCHES: Mapping[str, Bench] = {
    "startup": lambda quick, say: measure_startup(),
    "world": lambda quick, say: apart(world_figures),
    "embedding": lambda quick, say: measure_embedding(),
    "llm": _of("llm", "llm", 400, 4_000),
    "index": _of("retrieval", "index", _QUICK_SIZES),
    "runner": _of("runs", "runner", 10_000),
    "scoring": _of("runs", "scoring", 400),
    "report": _of("runs", "report", 400),
    "strategies": _of("llm", "strategies", 6),
    "retrieval": _of("retrieval", "retrieval", _QUICK_SIZES),
}


def measure(name: str, say: Say, *, quick: bool) -> Mapping[str, Any]:
    """Run one benchmark and return its figures, whose names carry their units.

    `quick` leaves out the largest sizes; `say` hears of each step.
    """
    if name not in BENCHES:
        raise UnknownNameError("benchmark", name, BENCHES)
    return BENCHES[name](quick, say)


def bench_table(name: str, figures: Mapping[str, Any]) -> RenderableType:
    """The figures for a terminal: plain ones in one table, each list of trials in its own."""
    plain = Table(title=f"arena bench {name}", title_justify="left", show_header=False)
    parts: list[RenderableType] = []
    for key, value in figures.items():
        if isinstance(value, list):
            parts.append(_trials(value))
        elif isinstance(value, Mapping):
            for inner, figure in value.items():
                plain.add_row(Text(f"{key}: {inner}"), _figure(figure))
        else:
            plain.add_row(Text(key), _figure(value))
    return Group(*parts, plain)


def _trials(trials: list[Mapping[str, Any]]) -> Table:
    """One column per trial, because trials have more figures than there are trials."""
    names = dict.fromkeys(name for trial in trials for name in trial)
    table = Table("figure", *(f"{trial.get('engine', '')} {trial.get('points', '')}" for trial in trials))
    for name in names:
        if name not in ("engine", "points"):
            table.add_row(Text(name), *(_figure(trial.get(name)) for trial in trials))
    return table


def _figure(value: Any) -> Text:
    return Text(f"{value:,.3f}" if isinstance(value, float) else "" if value is None else str(value))
