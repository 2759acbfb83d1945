"""Requests to the fake model, and its built-in replies: forms filled in, judgements, and messages with token counts.

Tokens are words: runs of characters between white space, each with the white space before it. A form is filled with the
smallest value that its JSON schema allows.

It reads the form that judgements of this project have: a last line `Reply with one of: yes, no`, whose labels go from
the best to the worst; passages as in `arena.llm.fake.judging`; and what is judged on the last line of the form
`Caption: text` (`Question: ...`, `Claim: ...`). Labels of one letter each, without passages, are taken for kinds of a
question, from the simple to the complex.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata

from arena.identity import canonical_json, short_hash
from arena.llm.fake.judging import answer, content_words, judged_form, titled_passages
from arena.llm.fake.script import REFUSAL, Rule
from arena.text import spaced

Schema = Mapping[str, Any]

_DEEPEST = 12


def asked_schema(turns: Sequence[str], response_format: object) -> Schema | None:
    """The schema that a reply is to keep: of `response_format`, else of the latest turn whose last line is a schema.

    None = no form is asked for. JSON mode without a schema is a form without fields.
    """
    wanted = response_format if isinstance(response_format, Mapping) else {}
    if wanted.get("type") == "json_schema":
        schema = wanted["json_schema"]["schema"]
        return schema if isinstance(schema, Mapping) else {}
    for turn in reversed(turns):
        schema = _schema_of_line(turn.rstrip().rpartition("\n")[2])
        if schema is not None:
            return schema
    return {"type": "object"} if wanted.get("type") == "json_object" else None


def filled_form(schema: Schema, text: str) -> str:
    """The smallest value of `schema` as JSON: fields that must be there, one item a list, and `text` for every text.

    The first is taken of every choice; numbers are as near to 0 as may be. Patterns and formats are not kept.
    """
    return json.dumps(_Filler(schema, text).value(schema, 0), ensure_ascii=False)


class _Filler:
    def __init__(self, root: Schema, text: str) -> None:
        self._root = root
        self._text = text

    def value(self, schema: Any, depth: int) -> Any:
        if not isinstance(schema, Mapping) or depth > _DEEPEST:
            return None
        if "$ref" in schema:
            return self.value(self._referred(str(schema["$ref"])), depth + 1)
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return schema["enum"][0]
        for choice in ("anyOf", "oneOf"):
            if schema.get(choice):
                return self.value(schema[choice][0], depth + 1)
        if schema.get("allOf"):
            merged = {key: value for part in schema["allOf"] for key, value in part.items()}
            return self.value({**schema, "allOf": None, **merged}, depth + 1)
        return self._of_kind(_kind(schema), schema, depth)

    def _of_kind(self, kind: str, schema: Schema, depth: int) -> Any:
        if kind == "object":
            properties = schema.get("properties", {})
            return {name: self.value(properties.get(name, {}), depth + 1) for name in schema.get("required", ())}
        if kind == "array":
            return self._items(schema, depth)
        if kind in ("integer", "number"):
            return _number(schema, whole=kind == "integer")
        if kind in ("boolean", "null"):
            return True if kind == "boolean" else None
        longest = schema.get("maxLength", len(self._text) + schema.get("minLength", 0))
        return self._text.ljust(schema.get("minLength", 0), ".")[:longest]

    def _items(self, schema: Schema, depth: int) -> list[Any]:
        first = list(schema.get("prefixItems", ()))
        few = schema.get("minItems", 0)
        wanted = few if depth > _DEEPEST // 2 else max(few, len(first), 1)
        number = min(wanted, schema.get("maxItems", wanted))
        return [
            self.value(first[place] if place < len(first) else schema.get("items", {}), depth + 1)
            for place in range(number)
        ]

    def _referred(self, pointer: str) -> Any:
        found: Any = self._root
        for part in pointer.removeprefix("#").strip("/").split("/"):
            if part:
                found = found.get(part, {}) if isinstance(found, Mapping) else {}
        return found


def _kind(schema: Schema) -> str:
    kind = schema.get("type", "object" if "properties" in schema else "string")
    return str(kind[0] if isinstance(kind, list) and kind else kind)


def _number(schema: Schema, *, whole: bool) -> float | int:
    step = 1 if whole else 1e-6
    lowest = max(
        (schema[key] + more for key, more in (("minimum", 0), ("exclusiveMinimum", step)) if key in schema),
        default=None,
    )
    highest = min(
        (schema[key] - less for key, less in (("maximum", 0), ("exclusiveMaximum", step)) if key in schema),
        default=None,
    )
    number: float | int = 0
    if lowest is not None:
        number = max(number, lowest)
    return number if highest is None else min(number, highest)


def _schema_of_line(line: str) -> Schema | None:
    if not line.startswith("{"):
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return (
        found if isinstance(found, dict) and found.keys() & {"type", "properties", "$ref", "$defs", "anyOf"} else None
    )


_LABELS = re.compile(r"\bReply with one of\b[^:\n]*: *(?P<labels>[^\n]+)\Z")
_CAPTIONED = re.compile(r"[A-Z][\w' -]{0,30}: *(?P<text>\S.*)")
_SHARPNESS = 2.0
_WORDS_OF_A_STEP = 3


def asked_labels(turn: str) -> tuple[str, ...]:
    """The labels that the last line of `turn` asks for; empty = it asks for none."""
    asked = _LABELS.search(turn.rstrip())
    if asked is None:
        return ()
    return tuple(label for label in (part.strip(" .") for part in asked["labels"].split(",")) if label)


def label_probabilities(labels: tuple[str, ...], turn: str) -> Mapping[str, float]:
    """Label -> probability, sum 1.

    With passages, the likeliest lies as far from the first as words are missing from them: all there, the first; none
    there, the last. Without, it is the first; of kinds (`A`, `B`, `C`) a later one for every three content words.
    """
    place = _place(labels, turn)
    weights = {label: math.exp(-_SHARPNESS * abs(number - place)) for number, label in enumerate(labels)}
    total = math.fsum(weights.values())
    return {label: weight / total for label, weight in weights.items()}


def _place(labels: tuple[str, ...], turn: str) -> float:
    shown = titled_passages(turn)
    lines = turn.rstrip().splitlines()[:-1]
    captioned = [line["text"] for line in map(_CAPTIONED.match, lines) if line]
    wanted = content_words(captioned[-1]) if captioned else set()
    last = len(labels) - 1
    if not shown and all(label.isalpha() and len(label) == 1 for label in labels):
        return min(last, max(0, len(wanted) - 1) // _WORDS_OF_A_STEP)
    if not shown or not wanted:
        return 0.0
    present = {word for title, text in shown for word in content_words(f"{title} {text}")}
    return last * (1.0 - len(wanted & present) / len(wanted))


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


def spoiled(said: Said, fault: str | None) -> tuple[Said, str | None]:
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
        # A word is a token here as in the reply, so that figures of fake runs can be checked by hand; what a real model
        # would make of a prompt is for `arena.llm.limits.estimated_tokens`.
        counts = len(spaced(request.prompt, pairs=False).split()), len(tokens)
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
    return short_hash(canonical_json(value, ascii_only=True, compact=True, default=str))
