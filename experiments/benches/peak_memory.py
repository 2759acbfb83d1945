"""The most memory this process ever held, and nobody else's."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def peak_memory_mb() -> float:
    """Peak resident memory in MB (10^6 bytes).

    Linux hands the peak of `getrusage` on from the process that forked this one, so the kernel's own high-water
    mark of this program is read there.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
