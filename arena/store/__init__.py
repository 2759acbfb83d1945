"""Run folders, and the only code that reads or writes their files. `arena.store.folder` lists them."""

from __future__ import annotations

from arena.plan import Key
from arena.store.files import LOCK, replace_text
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
from arena.store.runs import latest_run, review_text, write_review

__all__ = [
    "CALLS",
    "FINISHED",
    "KEPT",
    "LABELS",
    "LEADERBOARD",
    "LOCK",
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
    "Key",
    "RunStore",
    "key_of",
    "latest_run",
    "replace_text",
    "review_text",
    "write_review",
]
