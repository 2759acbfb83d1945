"""Asking: questions x cells under a limit -> RunRecords in the journal.

An error only the user can mend (`UserError`) stops the run, and what is done stays in the journal.
"""

from __future__ import annotations

from arena.runner.question import Contestant, plan, plan_keys, run_one
from arena.runner.run import Keep, each, run

__all__ = ["Contestant", "Keep", "each", "plan", "plan_keys", "run", "run_one"]
