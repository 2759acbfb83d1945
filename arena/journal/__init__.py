"""Journals: one self-contained, checksummed line per record, appended and synced.

A line cut short by a kill or a full disk is the last one and has no line end: readers drop it and the next writer cuts
it off. Any other damaged line is an error. `arena.journal.line` has the format.
"""

from __future__ import annotations

from arena.journal.line import PAID_LINES, RECORD_LINES, SCHEMA_VERSION, VERDICT_LINES, Line, LineFormat, encode
from arena.journal.reading import Entry, entries, read, record_of, scan
from arena.journal.writer import JournalWriter, sync_folder

__all__ = [
    "PAID_LINES",
    "RECORD_LINES",
    "SCHEMA_VERSION",
    "VERDICT_LINES",
    "Entry",
    "JournalWriter",
    "Line",
    "LineFormat",
    "encode",
    "entries",
    "read",
    "record_of",
    "scan",
    "sync_folder",
]
