"""A segment is a sentence: which one is next."""

from __future__ import annotations

from strategies.parsing import passage_sentences


def sentences(text: str) -> list[str]:
    """The sentences of `text` on one line each, in order."""
    text = " ".join(text.split())
    return [text[start:end] for start, end in passage_sentences(text)]


def next_sentence(reply: str, so_far: str) -> tuple[str, bool]:
    """The first sentence of `reply` that `so_far` does not have, and whether more follow; empty when there is none.

    Small models that are asked to go on like to begin again.
    """
    known = {sentence.casefold() for sentence in sentences(so_far)}
    new = [sentence for sentence in sentences(reply) if sentence.casefold() not in known]
    return (new[0], len(new) > 1) if new else ("", False)
