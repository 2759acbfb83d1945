"""Untrusted text in the cells of a spreadsheet: it stays text, and comes back as it was."""

from __future__ import annotations

import re

from arena.types import well_formed

LONGEST_CELL_CHARS = 32_767
"""What a cell of a spreadsheet holds (Excel, LibreOffice cuts later); a longer one would spill into the next row."""

_CUT = "\n[cut: {shown:,} of {all:,} characters]"

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")

_FORMULA = tuple(
    "=+-@\t\r\n\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}"
)
"""A cell that begins like this may be run as a formula."""

_MONTH = r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_REWRITTEN = re.compile(
    rf"(?!(0|[1-9]\d{{0,14}})$)(?=.*\d)(?:[\d\s.,:/%()$€£-]|(?:{_MONTH})[a-z]*\b|\b[ap]\.?m\b|e[+-]?(?=\d))+",
    re.IGNORECASE,
)
"""A whole text that spreadsheets may take for a number, a time or a date, and save in another notation."""

_GUARD = "'"


def sheet_text(text: str) -> str:
    """`text` as a sheet shows it: line ends are newlines, control characters U+FFFD, and what is too long is cut."""
    shown = _CONTROLS.sub("\ufffd", well_formed(text).replace("\r\n", "\n").replace("\r", "\n"))
    if len(shown) < LONGEST_CELL_CHARS:
        return shown
    kept = LONGEST_CELL_CHARS - 100
    return shown[:kept] + _CUT.format(shown=kept, all=len(shown))


def guarded(text: str) -> str:
    """`text` behind an apostrophe where a spreadsheet would run it or write it in another way; see `restored`."""
    risky = text.startswith((_GUARD, *_FORMULA)) or _REWRITTEN.fullmatch(text)
    return _GUARD + text if risky else text


def no_formula(text: str) -> str:
    """`text` behind an apostrophe where a spreadsheet would run it."""
    return _GUARD + text if text.startswith(_FORMULA) else text


def restored(cell: str) -> str:
    """What was guarded. `restored(guarded(text)) == text`."""
    return cell.removeprefix(_GUARD)


def same_text(cell: str, exported: str) -> bool:
    """Whether a cell still holds `exported`, with or without its guard; spreadsheets may change line ends and trim."""
    found = cell.replace("\r\n", "\n").replace("\r", "\n")
    return exported.strip() in (restored(found).strip(), found.strip())
