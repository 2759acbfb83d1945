"""`arena bench world`: making and proving a world of MuSiQue's size, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys

from experiments.benches.stopwatch import Figures

_CODE = """
import json, sys
from time import perf_counter
from arena.datasets.world import check_world, make_world
from experiments.benches.peak_memory import peak_memory_mb
documents, questions, seed = map(int, sys.argv[1:])
start = perf_counter()
world = make_world(documents, questions, seed)
made = perf_counter()
violations = len(check_world(world))
checked = perf_counter()
print(json.dumps({"documents": documents, "questions": questions, "seed": seed, "make_seconds": made - start,
                  "check_seconds": checked - made, "violations": violations, "peak_memory_mb": peak_memory_mb()}))
"""


def measure_world(documents: int = 21_100, questions: int = 3_356, seed: int = 7) -> Figures:
    """Seconds to make and to check, the number of unsound questions found, and peak memory."""
    command = [sys.executable, "-c", _CODE, str(documents), str(questions), str(seed)]
    figures: Figures = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return figures
