"""`arena bench NAME`: this project's own speed and memory on this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from arena.errors import UnknownNameError
from experiments.bench.llm import measure_llm, measure_strategies
from experiments.bench.process import Say, apart, measure_embedding, measure_startup, world_figures
from experiments.bench.retrieval import measure_index, measure_retrieval
from experiments.bench.runs import measure_report, measure_runner, measure_scoring

_QUICK_SIZES = (5_000, 21_100)

BENCHES: Mapping[str, Callable[[bool, Say], Mapping[str, Any]]] = {
    "startup": lambda quick, say: measure_startup(),
    "world": lambda quick, say: apart(world_figures),
    "embedding": lambda quick, say: measure_embedding(),
    "llm": lambda quick, say: measure_llm(400, 4_000, say=say) if quick else measure_llm(say=say),
    "index": lambda quick, say: measure_index(_QUICK_SIZES, say=say) if quick else measure_index(say=say),
    "runner": lambda quick, say: measure_runner(10_000, say=say) if quick else measure_runner(say=say),
    "scoring": lambda quick, say: measure_scoring(400, say=say) if quick else measure_scoring(say=say),
    "report": lambda quick, say: measure_report(400, say=say) if quick else measure_report(say=say),
    "strategies": lambda quick, say: measure_strategies(6, say=say) if quick else measure_strategies(say=say),
    "retrieval": lambda quick, say: measure_retrieval(_QUICK_SIZES, say=say) if quick else measure_retrieval(say=say),
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
