"""The checks of a run for a terminal, or as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from arena.store import CALLS, LEADERBOARD, QUESTIONS, REPORT, SCORES
from experiments.verification.check import Check

_STYLES = {"ok": "green", "differs": "bold red", "not checked": "yellow", "note": "cyan"}
_DERIVED = {LEADERBOARD, SCORES, QUESTIONS, CALLS}


def checks_table(checks: Sequence[Check]) -> Table:
    """One row per check, and a line for everything that was seen."""
    table = Table("what", "is", "seen")
    for check in checks:
        table.add_row(Text(check.name), Text(check.state, _STYLES[check.state]), Text("\n".join(check.seen)))
    return table


def verdict_text(run_folder: Path, checks: Sequence[Check]) -> str:
    """What the checks come to, in one line, and what to do where only derived files differ."""
    differing = [check.name for check in checks if check.state == "differs"]
    unchecked = [check.name for check in checks if check.state == "not checked"]
    left = f" Not checked: {', '.join(unchecked)}." if unchecked else ""
    if not differing:
        return f"Verified: nothing differs.{left}"
    again = ""
    if {*differing} <= {*_DERIVED, REPORT}:
        command, what = ("report", "it") if differing == [REPORT] else ("score", "them")
        again = f" arena {command} {shlex.quote(str(run_folder))} derives {what} anew."
    return f"Not verified: {', '.join(differing)}.{again}{left}"


def checks_fields(run_id: str, checks: Sequence[Check]) -> dict[str, Any]:
    """The same as one mapping."""
    return {"run_id": run_id, "verified": is_verified(checks), "checks": [asdict(check) for check in checks]}


def is_verified(checks: Sequence[Check]) -> bool:
    """Whether nothing differs. What could not be checked here is no difference."""
    return all(check.state != "differs" for check in checks)
