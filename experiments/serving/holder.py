"""Whether a process is writing a run, found out without touching its lock."""

from __future__ import annotations

from pathlib import Path

from arena.store import LOCK

_LOCKS = Path("/proc/locks")
"""Linux: one line a lock, as in `1: FLOCK ADVISORY WRITE 4711 fe:00:131090 0 EOF`; the sixth field ends in an inode."""


def is_written(folder: Path, locks: Path = _LOCKS) -> bool | None:
    """Whether a process holds the folder's lock; None where the system does not say.

    To try the lock would take it for a moment, in which a run that starts would be refused.
    """
    try:
        inode = (folder / LOCK).stat().st_ino
    except OSError:
        return False
    try:
        lines = locks.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    return any(_inode(line) == str(inode) for line in lines)


def _inode(line: str) -> str | None:
    fields = line.split()
    if "FLOCK" not in fields[1:2]:  # what waits for a lock has an arrow there
        return None
    return fields[5].rpartition(":")[2] if len(fields) > 5 else None
