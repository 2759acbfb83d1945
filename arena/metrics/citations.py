"""What an answer cites, by the lexical test.

Marks such as [2] are taken off an answer's text when it is read, and what they point to is kept for the answer as a
whole: a citation counts for each of its statements.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.metrics.lexical import is_supported, statements, supported_share


def lexical_citation_recall(answer: str, cited: Sequence[str]) -> float | None:
    """Share of the answer's statements that the cited texts together carry; 0.0 without citations.

    None where the answer states nothing.
    """
    return supported_share(answer, cited)


def lexical_citation_precision(answer: str, cited: Sequence[str]) -> float | None:
    """Share of the cited texts that carry a statement of the answer on their own; None without either.

    Of a chain of hops only the document that names the answer does so: a low bound for short answers.
    """
    made = statements(answer)
    if not cited or not made:
        return None
    return sum(any(is_supported(statement, [text]) for statement in made) for text in cited) / len(cited)


def uncited_statements(answer: str, cited: Sequence[str]) -> float | None:
    """Share of the answer's statements without a citation: all of them or none. None where it states nothing."""
    return float(not cited) if statements(answer) else None
