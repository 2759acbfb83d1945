"""A label from a model's reply: from the probabilities of its first token (T1), or from its text (T0).

T1 after Schick & Schuetze, "Exploiting Cloze Questions for Few Shot Text Classification and Natural Language
Inference", EACL 2021: the probabilities of the labels' tokens, renormalised over the labels. Ours adds up the ways a
label can be written, and refuses a reply whose labels have less than half of the probability together.

Servers write tokens with their log-probabilities in two forms: the list of objects of chat completions, which llama.cpp
uses for text completions too, and the three parallel lists of OpenAI's older text completions. Anything else is read as
no tokens at all.
"""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.protocols import Judgement, Reply, TokenChoice
from arena.types import holds_reasoning, well_formed, without_reasoning

ALTERNATIVES = 20
"""The most that OpenAI gives; others give as many or fewer."""

LEAST_MASS = 0.5

_LEAST_PROBABILITY = 1e-9
_SPACES = " \t\r\n\u2581\u0120\u010a"  # the last three stand for a space or a line end in some tokenizers
_QUOTES = "\"'`\u201c\u201d\u2018\u2019"
_OPENINGS = _SPACES + _QUOTES + "*_(["
_ENDINGS = _SPACES + _QUOTES + "*_)].,;:!"
_WRAPPINGS = _SPACES + _QUOTES + "*_()[]"
_CAPTION = re.compile(r"(?:label|answer)[*_]*\s*:", re.IGNORECASE)
_ENGLISH_WORDS = frozenset({"I", "a", "A"})


@dataclass(frozen=True, slots=True)
class LabelDistribution:
    """`probabilities`: label -> (0, 1], sum 1. `mass`: what the labels had together before, in [0.5, 1]."""

    probabilities: Mapping[str, float]
    mass: float


def check_labels(labels: Sequence[str]) -> None:
    """Raise ValueError unless there are two labels or more, and the first letter or digit tells them apart."""
    if len(labels) < 2:
        raise ValueError(f"labels {labels!r}: a judgement needs at least two")
    for label in labels:
        if not label or not (label[0].isalnum() and label[-1].isalnum()):
            raise ValueError(f"label {label!r} must begin and end with a letter or a digit")
    if len({label[0].casefold() for label in labels}) < len(labels):
        raise ValueError(f"labels {labels!r} must differ in their first letters, capital or small")


def label_limit(labels: Sequence[str]) -> int:
    """Tokens that a reply of one label needs: one for every two characters, two for the marks around it, 4 at least.

    What a model writes after the label is not read, so that it need not be paid for.
    """
    return max(4, 2 + math.ceil(max(map(len, labels)) / 2))


def read_judgement(reply: Reply, labels: Sequence[str]) -> Judgement | None:
    """T1 where the reply has the probabilities for it, else T0; None = unreadable.

    Reasoning, hidden or written, has decided before the first token of the label: its probability says nothing then.
    """
    text = reply.text or ""
    if reply.tokens and not reply.call.reasoning_tokens and not holds_reasoning(text):
        found = read_distribution(reply.tokens, labels)
        if found is not None:
            likeliest = max(labels, key=found.probabilities.__getitem__)
            return Judgement(likeliest, "T1", found.probabilities, found.mass)
    label = read_label(text, labels)
    return None if label is None else Judgement(label, "T0")


def read_distribution(tokens: Sequence[TokenChoice], labels: Sequence[str]) -> LabelDistribution | None:
    """The labels' probabilities at the first token that is no space, quote or Markdown; None = mass under 0.5.

    Every way to write a label counts for it: capitals, a space before, quotes, a stop after, and a token with which
    only this label begins. A label that no listed token stands for is given the most it can have: the smallest
    listed probability, or all that the listed ones leave where that is less. Such floors do not count into the mass.
    """
    start = next((place for place, token in enumerate(tokens) if _bare(token.text)), None)
    if start is None:
        return None
    written = tokens[start:]
    listed = _listed(written[0])
    sums = dict.fromkeys(labels, 0.0)
    for text, probability in listed.items():
        label = _begun(text, labels, written if text == written[0].text else None)
        if label is not None:
            sums[label] += probability
    mass = min(1.0, math.fsum(sums.values()))
    if mass < LEAST_MASS:
        return None
    left = 1.0 - math.fsum(listed.values())
    floor = max(_LEAST_PROBABILITY, min(left, *(share for share in listed.values() if share > 0.0)))
    weights = {label: share or floor for label, share in sums.items()}
    total = math.fsum(weights.values())
    return LabelDistribution({label: weight / total for label, weight in weights.items()}, mass)


def read_label(text: str, labels: Sequence[str]) -> str | None:
    """The one label that `text` is, in quotes or Markdown, with a full stop, after `Label:` or `Answer:`; else None.

    Nothing is picked out of prose: "I would say 4 of 5" is no label.
    """
    said = without_reasoning(text).strip(_WRAPPINGS).removesuffix(".").strip(_WRAPPINGS)
    caption = _CAPTION.match(said)
    if caption:
        said = said[caption.end() :].strip(_WRAPPINGS)
    return next((label for label in labels if label.casefold() == said.casefold()), None)


def _listed(token: TokenChoice) -> dict[str, float]:
    """Text -> probability of every listed token and of the chosen one, which a server may list apart."""
    logprobs = {token.text: token.logprob, **token.alternatives}
    return {text: math.exp(min(0.0, value)) for text, value in logprobs.items() if not math.isnan(value)}


def _begun(text: str, labels: Sequence[str], written: Sequence[TokenChoice] | None) -> str | None:
    """The label that a token is or begins. `written`: the tokens from this one on, if it is the chosen one.

    Of the chosen one it is known how it goes on, and "no" that becomes "nobody" is no label. Of another it is not:
    a word of one letter ("I", "a") is taken as one, and not as the beginning of `irrelevant` or `ambiguous`.
    """
    bare = _bare(text)
    label = next((one for one in labels if bare and one.casefold().startswith(bare.casefold())), None)
    if label is None:
        return None
    if written is not None:
        return label if _goes_on(written, label) else None
    return None if bare in _ENGLISH_WORDS and len(label) > 1 else label


def _goes_on(written: Sequence[TokenChoice], label: str) -> bool:
    """Whether the reply is at this label: it stands there as a whole word, or as far as the reply goes."""
    text = "".join(token.text for token in written).lstrip(_OPENINGS).casefold()
    whole = label.casefold()
    if text.startswith(whole):
        return not text[len(whole) : len(whole) + 1].isalnum()
    return whole.startswith(text.rstrip(_ENDINGS))


def _bare(token: str) -> str:
    return token.lstrip(_OPENINGS).rstrip(_ENDINGS)


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
