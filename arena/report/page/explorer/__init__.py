"""The question explorer of a page: search all questions, and see what any two cells made of one, side by side."""

from __future__ import annotations

from arena.report.page.explorer.section import ExplorerSection, explorer_section

__all__ = ["ExplorerSection", "explorer_section"]
