"""`arena bench report`: what writing the page of a large run takes, and how large it is."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from time import perf_counter

from arena.config import RunConfig
from arena.store import RunStore
from experiments.benches.peak_memory import peak_memory_mb
from experiments.benches.scoring import made_up_run
from experiments.benches.stopwatch import Figures
from experiments.benches.synthetic_run import synthetic_world
from experiments.reporting.write import write_report
from experiments.scoring.conclusion import conclude_run
from experiments.terminal.console import Console
from experiments.terminal.progress import Reporter

Say = Callable[[str], None]

_CODE = """
import json, sys
from pathlib import Path
from experiments.benches.report import report_figures
print(json.dumps(report_figures(Path(sys.argv[1]), int(sys.argv[2]))))
"""


def measure_report(questions: int = 3_356, *, say: Say = lambda line: None) -> Figures:
    """Seconds, peak memory and size of the page of twelve cells on `questions` questions, in a process of its own.

    The run is scored before, and its data are at hand: both are measured by other benchmarks.
    """
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        say(f"a run of {questions:,} questions in twelve cells")
        store = made_up_run(Path(folder) / "run", questions)
        say("scoring it")
        conclude_run(store, _silent(), dataset=synthetic_world(questions), config=RunConfig())
        say("writing its page")
        command = [sys.executable, "-c", _CODE, str(store.folder), str(questions)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    measured: Figures = json.loads(done.stdout)
    return {"questions": questions, **measured}


def report_figures(folder: Path, questions: int) -> Figures:
    """The figures of `measure_report`, of the run in `folder`, taken in this process."""
    dataset = synthetic_world(questions)
    figures: Figures = {"before_mb": peak_memory_mb()}
    started = perf_counter()
    page = write_report(RunStore.open(folder).folder, None, _silent(), dataset=dataset)
    figures["report_seconds"] = perf_counter() - started
    figures["page_mb"] = page.stat().st_size / 1e6
    figures["peak_memory_mb"] = peak_memory_mb()
    return figures


def _silent() -> Reporter:
    return Reporter(Console(file=StringIO()), quiet=True)
