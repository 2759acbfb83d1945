"""`arena bench`: this project's own speed and memory, each in a fresh process so that peaks are its own."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from time import perf_counter

from arena.errors import UnknownNameError

Figures = dict[str, float | int | str | None]

_WORLD = """
import json, resource, sys
from time import perf_counter
from arena.datasets.world import check_world, make_world
documents, questions, seed = map(int, sys.argv[1:])
start = perf_counter()
world = make_world(documents, questions, seed)
made = perf_counter()
violations = len(check_world(world))
checked = perf_counter()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
peak_mb = peak / (1e6 if sys.platform == "darwin" else 1e3)
print(json.dumps({"documents": documents, "questions": questions, "seed": seed, "make_seconds": made - start,
                  "check_seconds": checked - made, "violations": violations, "peak_memory_mb": peak_mb}))
"""

_IMPORTS = "import arena, strategies, indexing, experiments"


def measure(name: str) -> Figures:
    """Run one benchmark and return its figures; names carry their units."""
    if name not in BENCHES:
        raise UnknownNameError("benchmark", name, BENCHES)
    return BENCHES[name]()


def _startup() -> Figures:
    """Median of five: `arena --help`, and importing our packages, each with the interpreter's own start."""
    return {
        "help_seconds": _median_seconds(
            "-c", "import sys; sys.argv = ['arena', '--help']; from experiments.cli import main; main()"
        ),
        "import_seconds": _median_seconds("-c", _IMPORTS),
        "bare_python_seconds": _median_seconds("-c", "pass"),
    }


def _world() -> Figures:
    """A world of MuSiQue's size: 21,100 documents, 3,356 questions."""
    done = subprocess.run(
        [sys.executable, "-c", _WORLD, "21100", "3356", "7"], capture_output=True, text=True, check=True
    )
    figures: Figures = json.loads(done.stdout)
    return figures


def _median_seconds(*arguments: str) -> float:
    def once() -> float:
        start = perf_counter()
        subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
        return perf_counter() - start

    return statistics.median(once() for _ in range(5))


BENCHES: dict[str, Callable[[], Figures]] = {"startup": _startup, "world": _world}
