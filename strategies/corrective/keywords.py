"""From a model's reply to the keywords of an external search (paper section 4.5: at most three)."""

from __future__ import annotations

import re

from arena.errors import StrategyError
from strategies.parsing import parse_answer

LONGEST_WORDS = 8
"""A longer piece is prose, not a keyword."""

_LABEL = re.compile(
    r"^[*_`\"']*(?:search\s+)?(?:keywords?|phrases?|query)(?:\s*\([^)]*\))?[*_`]*\s*:[*_`]*\s*", re.IGNORECASE
)
_BULLET = re.compile(r"^(?:[-*\u2022]+|\d{1,2}[.)])\s+")
_AROUND = " \t\"'`*_.;:\u201c\u201d\u2018\u2019"


def parse_keywords(reply: str, most: int) -> tuple[str, ...]:
    """The first `most` keywords of the reply's first line: comma separated, each once whatever its case.

    Empty for a reply that says nothing, does not know, or writes prose.
    """
    try:
        said = parse_answer(reply)
    except StrategyError:
        return ()
    if said.abstained:
        return ()
    first_line, _, _ = _LABEL.sub("", said.text).partition("\n")
    found: dict[str, str] = {}
    for piece in first_line.split(","):
        keyword = " ".join(_BULLET.sub("", piece.strip()).strip(_AROUND).split())
        if keyword and len(keyword.split()) <= LONGEST_WORDS:
            found.setdefault(keyword.casefold(), keyword)
    return tuple(found.values())[:most]
