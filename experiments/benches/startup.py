"""`arena bench startup`: how long a user waits before anything happens."""

from __future__ import annotations

import statistics
import subprocess
import sys
from time import perf_counter

from experiments.benches.stopwatch import Figures

_HELP = "import sys; sys.argv = ['arena', '--help']; from experiments.cli import main; main()"


def measure_startup() -> Figures:
    """Median of five fresh processes: `arena --help`, our packages imported, and a bare interpreter to compare."""
    return {
        "help_seconds": _median_seconds(_HELP),
        "import_seconds": _median_seconds("import arena, strategies, indexing, experiments"),
        "bare_python_seconds": _median_seconds("pass"),
    }


def _median_seconds(code: str) -> float:
    def once() -> float:
        start = perf_counter()
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        return perf_counter() - start

    return statistics.median(once() for _ in range(5))
