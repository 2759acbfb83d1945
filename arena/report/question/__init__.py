"""Everything about one question in each cell: what the report's explorer and `arena inspect` show."""

from __future__ import annotations

from arena.report.question.evidence import GoldDocument, Mark, gold_documents
from arena.report.question.page import CellPage, QuestionPage, current_verdicts
from arena.report.question.roles import RoleUse, uses_by_role

__all__ = [
    "CellPage",
    "GoldDocument",
    "Mark",
    "QuestionPage",
    "RoleUse",
    "current_verdicts",
    "gold_documents",
    "uses_by_role",
]
