"""An answer's sentences, by a rule that needs no model."""

from __future__ import annotations

import re

_END = re.compile(r"[.!?\u2026]+[\"'\u201d\u2019)\]]*(?=\s+[\"'\u201c\u2018(\[]*[^\W_a-z])")
_UNFINISHED = re.compile(
    r"(?:^|[\s(\"'])(?:[^\W\d_]|(?:[^\W\d_]\.)+[^\W\d_]|st|mt|dr|mr|mrs|ms|prof|sr|jr|gen|col|capt|lt|rev|no|vs)\.$",
    re.IGNORECASE,
)
_LOOK_BACK = 16  # characters, more than any abbreviation above has
_ITEM = re.compile(r"\s*(?:\d{1,2}[.)]|[-*\u2022])\s+")


def sentences(text: str) -> list[str]:
    """The sentences of `text` in order, without the white space between them; one does not go on in the next line.

    A full stop after an initial, a title or an abbreviation ends none: "St. Louis" is one sentence. The numbers and
    bullets of a list belong to none.
    """
    return [sentence for line in text.splitlines() for sentence in _of_line(line)]


def _of_line(line: str) -> list[str]:
    item = _ITEM.match(line)
    start, found = item.end() if item else 0, []
    for stop in _END.finditer(line, start):
        if not _UNFINISHED.search(line[max(start, stop.end() - _LOOK_BACK) : stop.end()]):
            found.append(line[start : stop.end()].strip())
            start = stop.end()
    rest = line[start:].strip()
    return [*found, rest] if rest else found
