"""Everything that is printed: tables of figures with sentences below, for a terminal of any width or a pipe, or JSON.

Names, answers and a server's words may not steer a terminal. Escape sequences, other control characters and marks that
turn the direction of text are written out, an escape character by its hexadecimal number. Ends of lines and tabs stay.
The colours of our own tables are added after that. Where stdout is gone, full, or of few characters, a command still
ends as it would have.
"""

from __future__ import annotations

import codecs
import json
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from io import TextIOBase, TextIOWrapper
from typing import TYPE_CHECKING, Any, TextIO, cast

import rich.console
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from arena.report.text import natural_chars

if TYPE_CHECKING:
    from arena.datasets.table import DatasetEntry, DatasetInfo

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, a polite kill, a closed terminal."""

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


def datasets_table() -> Table:
    """Every dataset: how to write it, what it is, its licence and whom to cite."""
    from arena.datasets import dataset_entry, dataset_names

    table = Table("write", "what it is", "licence", "cite")
    for name in dataset_names():
        entry = dataset_entry(name)
        cite = entry.citation.short if entry.citation else "-"
        table.add_row(Text(entry.how_to_write), Text(entry.summary), Text(entry.licence), Text(cite))
    return table


def about_text(entry: DatasetEntry) -> str:
    """What is known of a dataset without its data: what it is, how to write it, whose it is and whom to cite."""
    lines = [entry.summary, f"write    {entry.how_to_write}", f"source   {entry.source}", f"licence  {entry.licence}"]
    return "\n".join([*lines, *(["cite", entry.citation.bibtex] if entry.citation else [])])


def info_facts(info: DatasetInfo, entry: DatasetEntry) -> dict[str, Any]:
    """The figures of a dataset and what is known of it without its data, for `as_json`."""
    about = {"summary": entry.summary, "source": entry.source, "licence": entry.licence}
    return asdict(info) | about | {"citation": asdict(entry.citation) if entry.citation else None}


def info_table(info: DatasetInfo) -> Table:
    """The figures of one dataset."""
    table = Table(title=Text(info.name), title_justify="left", show_header=False)
    for name, value in _info_rows(info):
        table.add_row(name, Text(value))
    return table


def print_notes(info: DatasetInfo, console: Console) -> None:
    """What a user of the dataset should know, below the table."""
    for note in info.notes:
        console.print(f"note: {note}", markup=False, highlight=False)


def models_text() -> str:
    """Every named weight in three lines: what it is, where it comes from, and where it is on this machine."""
    from arena.config import cache_folder
    from indexing.weights import list_models

    blocks = []
    for listed in list_models(cache_folder("weights")):
        model = listed.model
        place = f"here    {listed.path}" if listed.path else f"absent  arena models fetch {model.name}"
        facts = f"{model.purpose}, {model.size_bytes / 1e6:,.0f} MB, {model.licence}"
        blocks.append(f"{model.name}  ({facts})\n    source  {model.source}\n    {place}")
    return "\n".join(blocks)


def as_json(value: Any) -> str:
    """A record or mapping as one JSON object."""
    return json.dumps(value if isinstance(value, Mapping) else asdict(value), indent=2, ensure_ascii=False)


def _info_rows(info: DatasetInfo) -> list[tuple[str, str]]:
    words = info.words
    rows = [
        ("documents", f"{info.n_documents:,}"),
        ("questions", f"{info.n_questions:,}"),
        ("by kind", _counts(info.by_kind)),
        ("by hops", _counts({f"{hops} hop{'s' * (hops != 1)}": count for hops, count in info.by_hops.items()})),
        ("by shape", _counts(info.by_shape)),
        (
            "titles shared by several documents",
            f"{info.homonym_titles:,}, on {info.documents_with_homonym_title:,} documents",
        ),
        ("questions with such a supporting document", f"{info.questions_with_homonym_support:,}"),
        ("questions with gold documents", "none" if info.gold_share is None else f"{info.gold_share:.1%}"),
        ("answers are compared", info.answers_compared),
        *([("questions in other scripts", f"{info.other_scripts:,}")] if info.other_scripts else []),
        *(("English only", what) for what in info.english_only),
        ("fingerprint", info.fingerprint),
    ]
    if words:
        span = (
            f"{words.minimum} to {words.maximum}, median {words.median:.0f}, mean {words.mean:.1f}, p95 {words.p95:.0f}"
        )
        rows.insert(7, ("words per document", span))
    return rows


def _counts(counts: Mapping[Any, int]) -> str:
    return ", ".join(f"{key}: {count:,}" for key, count in counts.items()) or "not said"


def print_table(table: Table, notes: Iterable[str], console: Console) -> None:
    """Print both. A pipe or file gets every column at its natural width."""
    if not console.is_terminal:
        console = type(console)(file=console.file, width=max(console.width, natural_chars(table, console)))
    console.print(table)
    print_below(notes, console)


def print_below(notes: Iterable[str], console: Console) -> None:
    """Sentences below a table."""
    for note in notes:
        console.print(note, markup=False, highlight=False, style="dim", soft_wrap=True)
