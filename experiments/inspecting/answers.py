"""Answers and other texts in few words."""

from __future__ import annotations

from arena.report.question import CellPage, visible_text


def answer_text(cell: CellPage, chars: int) -> str:
    """The answer, or why there is none, in one line of about `chars` characters."""
    failure, answer = cell.record.failure, cell.record.answer
    if failure is not None:
        said = f"failed: {failure.type}: {failure.message}"
    elif answer is None or answer.text is None:
        said = "(writes no answer by design)"
    else:
        said = f"{answer.text or '(empty)'}{' (abstained)' if answer.abstained else ''}"
    return line_text(said, chars)


def line_text(text: str, chars: int) -> str:
    """`text` in one line, cut to `chars` characters."""
    line = visible_text(" ".join(text.split()))
    return line if len(line) <= chars else f"{line[: chars - 1]}\N{HORIZONTAL ELLIPSIS}"


def cut_text(text: str, chars: int) -> str:
    """`text`, or its first `chars` characters and how many are left."""
    return text if len(text) <= chars else f"{text[:chars]} [{len(text) - chars:,} more characters: --json]"
