"""One request to the fake model, and the LangChain message it is answered with.

Tokens are words: runs of characters between white space, each with the white space before it.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata

from arena.llm.extractive import answer
from arena.llm.fake_faults import REFUSAL, FaultName
from arena.llm.fake_form import asked_schema, filled_form
from arena.llm.fake_judge import judged_form
from arena.llm.fake_labels import asked_labels, label_probabilities
from arena.llm.fake_script import Rule

TEXT = "text"
"""The role of a text that is to be continued: no turn of a conversation."""

_TOKEN = re.compile(r"\s*\S+(?:\s+\Z)?")
_SURE = 0.9  # probability of a word that nothing else is said of


@dataclass(frozen=True, slots=True)
class FakeRequest:
    """`turns`: role and text of each. `alternatives`: how many are wanted for each token; None = no log-probabilities.

    `parameters` is all that was sent besides, for telling requests apart.
    """

    turns: tuple[tuple[str, str], ...]
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    alternatives: int | None = None
    response_format: object = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def prompt(self) -> str:
        return "\n".join(text for _, text in self.turns)

    @property
    def prompt_id(self) -> str:
        """The same hash as in the ledger."""
        (role, text), *more = self.turns
        return _digest(text if role == TEXT and not more else self.turns)

    @property
    def call_id(self) -> str:
        return _digest(
            [self.turns, self.max_tokens, self.stop, self.alternatives, self.response_format, self.parameters]
        )

    @property
    def wants_form(self) -> bool:
        return self.response_format is not None


@dataclass(frozen=True, slots=True)
class Said:
    """A reply before the token bound: its text, and the probabilities of its first word where they are known."""

    text: str
    probabilities: Mapping[str, float] | None = None


def compose(request: FakeRequest, rule: Rule | None) -> Said:
    """What the rule says, else what the built-in rules do."""
    if rule is not None and rule.text is not None:
        return Said(rule.text, rule.probabilities)
    # Earlier turns are worked examples: their passages and questions are not the ones at hand.
    last = request.turns[-1][1]
    turns = [text for _, text in request.turns]
    schema = asked_schema(turns, request.response_format)
    if schema is not None:
        return Said(judged_form(schema.get("properties", {}), turns) or filled_form(schema, answer(last)))
    labels = asked_labels(last)
    if labels:
        probabilities = label_probabilities(labels, last)
        return Said(max(labels, key=probabilities.__getitem__), probabilities)
    return Said(answer(last))


def spoiled(said: Said, fault: FaultName | None) -> tuple[Said, str | None]:
    """What is left of a reply under `fault`, and the reason for its end that comes with it (None = the usual one)."""
    match fault:
        case "truncated":
            words = _TOKEN.findall(said.text)
            return Said("".join(words[: max(1, len(words) // 2)]), said.probabilities), "length"
        case "malformed_json":
            return Said(said.text.rstrip()[:-1]), None
        case "empty":
            return Said(""), None
        case "refusal":
            return Said(REFUSAL), "refusal"
    return said, None


def message(request: FakeRequest, said: Said, ending: str | None, *, usage: bool) -> AIMessage:
    """The reply as LangChain has it: cut at its bound and at `stop`, counted, with log-probabilities if wanted."""
    text, cut = said.text, False
    for stop in request.stop:
        text = text.partition(stop)[0]
    tokens = _TOKEN.findall(text)
    if request.max_tokens is not None and len(tokens) > request.max_tokens:
        tokens, cut = tokens[: request.max_tokens], True
        text = "".join(tokens)
    reply = AIMessage(text, response_metadata={"finish_reason": "length" if cut else ending or "stop"})
    if request.alternatives is not None:
        reply.response_metadata["logprobs"] = {"content": _logprobs(tokens, said.probabilities, request.alternatives)}
    if usage:
        counts = len(request.prompt.split()), len(tokens)
        reply.usage_metadata = UsageMetadata(input_tokens=counts[0], output_tokens=counts[1], total_tokens=sum(counts))
    return reply


def _logprobs(
    tokens: Sequence[str], probabilities: Mapping[str, float] | None, alternatives: int
) -> list[dict[str, Any]]:
    """In OpenAI's form; the likeliest first."""
    listed = []
    for place, token in enumerate(tokens):
        known = probabilities if place == 0 and probabilities else {token: _SURE}
        likeliest = sorted(known.items(), key=lambda item: -item[1])[:alternatives]
        top = [{"token": word, "logprob": math.log(share)} for word, share in likeliest]
        listed.append({"token": token, "logprob": math.log(known.get(token.strip(), _SURE)), "top_logprobs": top})
    return listed


def _digest(value: object) -> str:
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
