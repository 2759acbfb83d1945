"""`arena bench retrieval`: engines on synthetic points, each trial in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from experiments.benches.retrieval_trial import EDGE, LOCAL_MODE, SETTINGS, Trial, run_apart
from experiments.benches.stopwatch import Figures

SIZES = (5_000, 21_100, 100_000)
MUSIQUE = 21_100  # passages of MuSiQue's corpus
MUSIQUE_QUESTIONS = 3_356
LOCAL_MODE_MOST = MUSIQUE  # points; beyond, one query takes seconds
LOCAL_MODE_QUERIES = 10

Say = Callable[[str], None]


def measure_retrieval(
    points: Sequence[int] = SIZES,
    *,
    queries: int = 100,
    batch: int = MUSIQUE_QUESTIONS,
    local_mode: bool = True,
    seed: int = 7,
    say: Say = lambda line: None,
) -> dict[str, Any]:
    """Figures of every engine at every size, and what follows from them.

    `queries`: single queries of each mode per trial (local mode gets 10 of them); `batch`: hybrid queries asked in
    groups of 256 (`batch_seconds`) and again in groups of 8 (`batch_of_8_seconds`), at MuSiQue's size only. `say`
    hears of each trial before it starts. On two idle cores, the defaults take some 8 minutes, and
    `points=(5_000, 21_100)` some 4. Keys of the result:

    - `settings`; `trials`, one mapping of figures each: times in ms or seconds, `recall_at_10` of the graph against
      exact search, `peak_memory_mb` of the trial's process. `build_seconds` is without embedding.
    - `times_faster_than_local_mode`: size -> p50 of a hybrid query of local mode over that of `edge-exact`.
    - `growth`: engine and mode -> p50 at the largest size over p50 at the smallest, beside that of the points.
    """
    trials = []
    for size in points:
        engines = [*EDGE, LOCAL_MODE] if local_mode and size <= LOCAL_MODE_MOST else EDGE
        for engine in engines:
            asked = min(queries, LOCAL_MODE_QUERIES) if engine == LOCAL_MODE else queries
            trial = Trial(engine, size, asked, batch if engine == "edge-exact" and size == MUSIQUE else 0, seed)
            say(f"{engine} with {size:,} points")
            trials.append(run_apart(trial))
    return {
        "settings": {**SETTINGS, "queries": queries, "batch": batch, "seed": seed},
        "trials": trials,
        "times_faster_than_local_mode": _ratios(trials),
        "growth": _growth(trials),
    }


def _ratios(trials: Sequence[Figures]) -> Figures:
    p50 = {(figures["engine"], figures["points"]): figures["hybrid_p50_ms"] for figures in trials}
    return {
        str(size): _over(p50[LOCAL_MODE, size], p50["edge-exact", size]) for engine, size in p50 if engine == LOCAL_MODE
    }


def _growth(trials: Sequence[Figures]) -> Figures:
    smallest, largest = (
        [figures for figures in trials if figures["points"] == size]
        for size in (min(_sizes(trials)), max(_sizes(trials)))
    )
    before = {figures["engine"]: figures for figures in smallest}
    growth: Figures = {"points": _over(max(_sizes(trials)), min(_sizes(trials)))}
    for figures in largest:
        engine = figures["engine"]
        for mode in ("dense", "hybrid"):
            growth[f"{engine} {mode}"] = _over(figures[f"{mode}_p50_ms"], before[engine][f"{mode}_p50_ms"])
    return growth


def _sizes(trials: Sequence[Figures]) -> list[int]:
    return [size for figures in trials if isinstance(size := figures["points"], int)]


def _over(value: float | int | str | None, base: float | int | str | None) -> float | None:
    return value / base if isinstance(value, int | float) and isinstance(base, int | float) else None
