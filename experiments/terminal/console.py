"""Where everything that is printed passes: names, answers and a server's words may not steer a terminal.

Escape sequences, other control characters and marks that turn the direction of text are written out, an escape
character by its hexadecimal number. Ends of lines and tabs stay. The colours of our own tables are added after that.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import rich.console
from rich.segment import Segment

_KEPT = "\n\t"
_DIRECTIONS = [0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_VISIBLE = {code: f"\\x{code:02x}" for code in range(0x20) if chr(code) not in _KEPT} | {
    # In this form they may stand in JSON, which holds those above in no other.
    code: f"\\u{code:04x}"
    for code in (*range(0x7F, 0xA0), *_DIRECTIONS)
}


def visible(text: str) -> str:
    """`text` with every character that a terminal would obey written out."""
    return text.replace("\r\n", "\n").translate(_VISIBLE)


def put(text: object = "", *, err: bool = False, end: str = "\n", flush: bool = False) -> None:
    """Print plain text, on stderr if `err`."""
    print(visible(str(text)), file=sys.stderr if err else sys.stdout, end=end, flush=flush)


class Console(rich.console.Console):
    """The library's console, which shows what it would otherwise hand to the terminal."""

    def render(self, *arguments: Any, **options: Any) -> Iterable[Segment]:
        """What is printed, part by part; the library's own control codes (a bar that moves) are no text."""
        for part in super().render(*arguments, **options):
            yield part if part.control else Segment(visible(part.text), part.style)
