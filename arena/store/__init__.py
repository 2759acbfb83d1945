"""Run folders, and the only code that reads or writes their files. `arena.store.folder` lists them."""

from __future__ import annotations

from arena.store.folder import (
    CALLS,
    FINISHED,
    KEPT,
    LABELS,
    LEADERBOARD,
    MANIFEST,
    PAID,
    PLAN,
    PROBE,
    QUESTIONS,
    RECORDS,
    REPORT,
    REVIEW,
    RUNNING,
    SCORES,
    STOPPED,
    SUPERSEDED,
    VERDICTS,
    RunStore,
    key_of,
)

__all__ = [
    "CALLS",
    "FINISHED",
    "KEPT",
    "LABELS",
    "LEADERBOARD",
    "MANIFEST",
    "PAID",
    "PLAN",
    "PROBE",
    "QUESTIONS",
    "RECORDS",
    "REPORT",
    "REVIEW",
    "RUNNING",
    "SCORES",
    "STOPPED",
    "SUPERSEDED",
    "VERDICTS",
    "RunStore",
    "key_of",
]
