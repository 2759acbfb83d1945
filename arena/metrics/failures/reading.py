"""What a reader made of evidence that it was shown: told by the answer's words, without a model."""

from __future__ import annotations

import re

from arena.metrics.answer import contains
from arena.metrics.case import Case
from arena.metrics.lexical import is_supported
from arena.text import content_words

_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|s|e)$")


def misreading(case: Case) -> str:
    """The class of a wrong answer that was written with all evidence in sight, or of which none is named.

    What an answer claims are its content words that are not the question's; one that only repeats the question invents
    nothing. A passage holds them where it has at least `arena.metrics.lexical.SUPPORTED_AT` of them: all of one, two
    or three.
    """
    shown = case.shown
    claimed = _claimed(case)
    if shown is None or not claimed:
        return "reader_miss" if case.gold.supporting_ids else "unexplained"
    if not is_supported(claimed, shown.values()):
        return "hallucination"
    if not case.gold.supporting_ids:
        return "unexplained"
    holding = {doc_id for doc_id, text in shown.items() if is_supported(claimed, (text,))}
    return "shown_but_ignored" if holding and holding.isdisjoint(case.gold.supporting_ids) else "reader_miss"


def is_from_memory(case: Case) -> bool:
    """Whether a right answer stands in nothing that was shown. Of texts that are not known: False."""
    shown = case.shown
    return shown is not None and not any(
        contains(text, case.gold.answers, official=case.gold.official) for text in shown.values()
    )


def _claimed(case: Case) -> frozenset[str]:
    """The answer's content words that are not the question's, whatever their endings."""
    said = content_words(case.record.answer.text or "") if case.record.answer else frozenset()
    asked = set(map(_stem, content_words(case.question.text)))
    return frozenset(word for word in said if _stem(word) not in asked)


def _stem(word: str) -> str:
    return _ENDING.sub("", word)
