"""What continuing a large run costs before the first question: memory and time of reading its journal."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path
from time import perf_counter

from arena.store import MANIFEST, RECORDS, RunStore
from arena.store.journal import RECORD_LINES, encode, entries
from experiments.benches.peak_memory import peak_memory_mb
from experiments.benches.stopwatch import Figures
from experiments.benches.synthetic_run import synthetic_records, synthetic_world

_CELLS = 12
_APART = """
import json, sys
from pathlib import Path
from experiments.benches.resume_scan import scan
print(json.dumps(scan(Path(sys.argv[1]))))
"""


def measure_resume(records: int) -> Figures:
    """Figures of a run of so many records and, with `_tenth` at their names' ends, of its first tenth.

    `resume_seconds`: what is done is looked up and the journal opened for writing. `stream_seconds`: every record is
    read once. `peak_memory_mb` is that of a process that does both, libraries included. `raw_read_seconds`: the bare
    lines of the same file, to compare.
    """
    world = synthetic_world(-(-records // _CELLS))
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        whole, tenth = Path(folder) / "whole", Path(folder) / "tenth"
        for run in (whole, tenth):
            run.mkdir()
            (run / MANIFEST).write_text(
                json.dumps({"status": "stopped", "started": "2026-01-01T00:00:00+00:00", "config": {}, "identity": {}})
            )
        with (whole / RECORDS).open("wb") as out, (tenth / RECORDS).open("wb") as few:
            for number, record in enumerate(islice(synthetic_records(world), records)):
                line = encode(record, RECORD_LINES)
                out.write(line)
                if number < records // 10:
                    few.write(line)
        del world
        figures: Figures = {"records": records, "journal_mb": (whole / RECORDS).stat().st_size / 1e6}
        return figures | _scan_apart(whole) | {f"{name}_tenth": value for name, value in _scan_apart(tenth).items()}


def scan(folder: Path) -> Figures:
    """What `measure_resume` says of one run, in this process."""
    store = RunStore(folder)
    started = perf_counter()
    with store.records_path.open("rb") as file:
        lines = sum(1 for _ in file)
    raw = perf_counter() - started
    started = perf_counter()
    done = store.done()
    with store.writing():
        resumed = perf_counter() - started
    assert len(done) == lines
    started = perf_counter()
    read = sum(1 for _ in entries(store.records_path, RECORD_LINES))
    streamed = perf_counter() - started
    assert read == lines
    return {
        "raw_read_seconds": raw,
        "resume_seconds": resumed,
        "stream_seconds": streamed,
        "peak_memory_mb": peak_memory_mb(),
    }


def _scan_apart(folder: Path) -> Figures:
    command = [sys.executable, "-c", _APART, str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    figures: Figures = json.loads(done.stdout)
    return figures
