"""Everything a leaderboard holds beside its table, printed in the order in which one asks."""

from __future__ import annotations

from rich.console import Console

from arena.report.abstention_table import print_abstention
from arena.report.breakdown_table import print_breakdown
from arena.report.comparisons_table import print_comparisons
from arena.report.contamination_table import print_contamination
from arena.report.controllers_table import print_controllers
from arena.report.diagnosis_table import print_diagnosis
from arena.report.failures_table import print_failures
from arena.report.gap_table import print_gaps
from arena.report.judges_table import print_judges
from arena.report.leaderboard import Leaderboard


def print_details(board: Leaderboard, console: Console) -> None:
    """All parts, in the order in which one asks; a part without anything to say prints nothing.

    Which differences count, and how far that is memory; why answers fail, and where to act; what controllers and judges
    did; the same by kind and hops.
    """
    print_comparisons(board, console)
    print_gaps(board, console)
    print_contamination(board, console)
    print_abstention(board, console)
    print_failures(board, console)
    print_diagnosis(board, console)
    print_controllers(board, console)
    print_judges(board, console)
    print_breakdown(board, console)
