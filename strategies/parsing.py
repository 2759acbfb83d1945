"""From a model's prose to an answer, an abstention and citations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from arena.types import Passage

ABSTENTION = "I don't know"

_CITATION = re.compile(r"\s*\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")
_LABEL = re.compile(r"^(?:(?:the\s+)?(?:final\s+)?answer(?:\s+is)?\s*:|the\s+answer\s+is\b)\s*", re.IGNORECASE)
_ABSTAINS = re.compile(
    r"^i\s+(?:do\s+not|don.?t)\s+know\b(?=[\s.,;:!]*$)|^i\s+(?:do\s+not|don.?t)\s+know[.,;]\s", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """`text` without citation marks; `cited` holds numbers from 1 in order of first mention."""

    text: str
    abstained: bool
    cited: tuple[int, ...]


def parse_answer(reply: str) -> ParsedAnswer:
    """Read one reply.

    A leading "Answer:" or "The answer is" and marks such as `[2]` or `[1, 3]` are taken off the text. A reply that
    is, or opens with, the sentence "I don't know" abstains; so does an empty one.
    """
    numbers = [int(n) for match in _CITATION.finditer(reply) for n in match.group(1).split(",")]
    text = _LABEL.sub("", _CITATION.sub("", reply).strip()).strip()
    return ParsedAnswer(text, not text or bool(_ABSTAINS.match(text)), tuple(dict.fromkeys(numbers)))


def cited_documents(cited: Sequence[int], shown: Sequence[Passage]) -> tuple[str, ...]:
    """Documents behind citation numbers; a number that no shown passage has is ignored."""
    return tuple(dict.fromkeys(shown[number - 1].doc_id for number in cited if 1 <= number <= len(shown)))
