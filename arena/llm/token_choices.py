"""The tokens of a reply with their log-probabilities, as servers write them down.

Two forms are about: the list of objects of chat completions, which llama.cpp uses for text completions too, and the
three parallel lists of OpenAI's older text completions. What fits neither is no tokens at all.
"""

from __future__ import annotations

import codecs
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from arena.protocols import TokenChoice
from arena.types import well_formed


def read_choices(logprobs: Any) -> tuple[TokenChoice, ...]:
    """The tokens of `logprobs`; empty where it is None or in no known form."""
    try:
        if isinstance(logprobs.get("content"), list):
            return _from_objects(logprobs["content"])
        return _from_lists(logprobs)
    except (AttributeError, KeyError, TypeError, ValueError):
        return ()


def choices_of_text(choices: Sequence[TokenChoice], text: str) -> tuple[TokenChoice, ...]:
    """The tokens that make up `text`: without reasoning before it and the end-of-turn token after it.

    Empty when the tokens do not spell the text: then nobody knows which of them are the reply's.
    """
    kept = list(choices)
    while kept and text.strip():
        spelt = "".join(choice.text for choice in kept)
        if spelt.endswith(text):
            return _overlapping(kept, len(spelt) - len(text), len(spelt))
        spelt, bare = spelt.rstrip(), text.strip()  # servers take blanks off, or leave one of a token they took off
        if spelt.endswith(bare):
            return _overlapping(kept, len(spelt) - len(bare), len(spelt))
        if not _is_mark(kept.pop().text):
            break
    return ()


def cut_at(text: str, choices: Sequence[TokenChoice], stop: Sequence[str]) -> tuple[str, tuple[TokenChoice, ...]]:
    """`text` and its tokens up to the first of the `stop` strings, which not every server takes or leaves out."""
    ends = [place for word in stop if word and (place := text.find(word)) >= 0]
    if not ends:
        return text, tuple(choices)
    spelt = "".join(choice.text for choice in choices)
    begin = spelt.find(text)
    if begin < 0:  # the text lacks blanks that its tokens have, or has more of them
        begin = spelt.find(text.strip()) - (len(text) - len(text.lstrip()))
    return text[: min(ends)], _overlapping(choices, begin, begin + min(ends))


def _overlapping(choices: Sequence[TokenChoice], begin: int, end: int) -> tuple[TokenChoice, ...]:
    """The tokens with a character in [begin, end) of what all of them spell."""
    kept = []
    place = 0
    for choice in choices:
        start, place = place, place + len(choice.text)
        if start < end and place > begin:
            kept.append(choice)
    return tuple(kept)


def _is_mark(token: str) -> bool:
    """Whether a token is a control token, as far as its spelling tells: empty, blank, `<|im_end|>`, `</s>`."""
    bare = token.strip()
    return not bare or (bare.startswith("<") and bare.endswith(">"))


def _from_objects(items: Sequence[Mapping[str, Any]]) -> tuple[TokenChoice, ...]:
    """A character that several tokens make up is spelt by the last of them, so that together they spell the text."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    choices = []
    for item in items:
        spelling = item.get("bytes")
        text = str(item["token"]) if spelling is None else decoder.decode(bytes(spelling))
        others = ((other["token"], other["logprob"]) for other in item.get("top_logprobs") or ())
        choices.append(TokenChoice(well_formed(text), _logprob(item["logprob"]), _summed(others)))
    return tuple(choices)


def _from_lists(logprobs: Mapping[str, Any]) -> tuple[TokenChoice, ...]:
    tokens = logprobs["tokens"]
    others = logprobs.get("top_logprobs") or [{}] * len(tokens)
    return tuple(
        TokenChoice(well_formed(str(token)), _logprob(logprob), _summed((other or {}).items()))
        for token, logprob, other in zip(tokens, logprobs["token_logprobs"], others, strict=True)
    )


def _summed(others: Iterable[tuple[Any, Any]]) -> dict[str, float]:
    """Text -> natural log of its probability; what is spelt alike is one text."""
    logs: dict[str, float] = {}
    for token, value in others:
        text, logprob = well_formed(str(token)), _logprob(value)
        low, high = sorted((logs.get(text, -math.inf), logprob))
        logs[text] = high if low == -math.inf else high + math.log1p(math.exp(low - high))
    return logs


def _logprob(value: Any) -> float:
    """`value` as a natural log. Raises ValueError for NaN, TypeError for what is no number."""
    logprob = float(value)
    if math.isnan(logprob):
        raise ValueError("a log-probability that is no number")
    return min(0.0, logprob)
