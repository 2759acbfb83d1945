"""Where everything that is printed passes: names, answers and a server's words may not steer a terminal.

Escape sequences, other control characters and marks that turn the direction of text are written out, an escape
character by its hexadecimal number. Ends of lines and tabs stay. The colours of our own tables are added after that.
Where stdout is gone, full, or of few characters, a command still ends as it would have.
"""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOBase, TextIOWrapper
from typing import Any, TextIO, cast

import rich.console
from rich.segment import Segment

_ESCAPE = "arena_escape"
"""The name of our handler of characters that an encoding lacks."""

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


class Output(TextIOBase):
    """A stream that takes everything. After the first fault what is printed goes nowhere, and `fault` says why.

    So a command ends as it would have, with all files written, whoever stopped reading.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.fault: OSError | None = None

    def write(self, text: str, /) -> int:
        self._attempt("write", text)
        return len(text)

    def flush(self) -> None:
        self._attempt("flush")

    def _attempt(self, name: str, *arguments: Any) -> None:
        if self._stream is None or self.fault is not None:
            return
        try:
            getattr(self._stream, name)(*arguments)
        except OSError as error:
            self.fault = error
            self._discard()

    def _discard(self) -> None:
        """Lead the descriptor nowhere: what is left in buffers is tried again at the interpreter's end."""
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            try:
                os.dup2(nowhere, self.fileno())
            finally:
                os.close(nowhere)

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._stream is not None and self._stream.isatty()

    def fileno(self) -> int:
        if self._stream is None:
            raise OSError("it was closed before the command began")
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return getattr(self._stream, "encoding", None) or "utf-8"

    @property
    def errors(self) -> str:  # type: ignore[override]
        return getattr(self._stream, "errors", None) or "strict"

    @property
    def buffer(self) -> Any:
        return getattr(self._stream, "buffer")  # noqa: B009


@contextmanager
def printing() -> Iterator[Output]:
    """Have all that is printed go through an `Output`; what comes out is that of stdout.

    Characters that its encoding lacks are written as JSON writes them, by number, so that JSON stays JSON.
    """
    codecs.register_error(_ESCAPE, _escaped)
    before = sys.stdout, sys.stderr
    out, err = (Output(_lenient(stream)) for stream in before)
    if before[0] is None:
        out.fault = OSError("it was closed before the command began")
    sys.stdout, sys.stderr = cast(TextIO, out), cast(TextIO, err)
    try:
        yield out
    finally:
        out.flush()
        err.flush()
        sys.stdout, sys.stderr = before


def _lenient(stream: TextIO | None) -> TextIO | None:
    """`stream`, unless its user chose a handler: PYTHONIOENCODING=ascii:replace."""
    if isinstance(stream, TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
        stream.reconfigure(errors=_ESCAPE)
    return stream


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4)), error.end
