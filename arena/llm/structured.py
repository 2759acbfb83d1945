"""A structured reply: the schema goes into the prompt, the last object that keeps it comes out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from arena.errors import content_problems
from arena.protocols import Message, Reply
from arena.types import was_cut, without_reasoning

S = TypeVar("S", bound=BaseModel)

REPEATS = "it repeats the prompt"
"""Of a reply that hands back what it was given: an example of the prompt, or all of it."""

_TELLING = 40
"""Characters, white space aside, of which nobody writes as many as they stand in the prompt by chance."""

_LOOK_BACK = 400
"""Characters that hold so many beside white space, in any layout."""

_MOST_PROBLEM_CHARS = 300
# Models write line breaks into strings as they are; the decoder of the standard lets nobody do so.
_DECODER = json.JSONDecoder(strict=False)
_OPENING = re.compile(r"\{(?=\s*+[\"}])")
_MOST_FAULTS = 1_000  # the decoder counts lines from the beginning for each
_LITERAL_KEYS = frozenset({"default", "examples", "const", "enum"})


@dataclass(frozen=True, slots=True)
class ParsedReply(Generic[S]):
    """What was read from a reply: the `value`, or the `problem` in one line; one of them is None."""

    value: S | None
    problem: str | None = None


def schema_turns(messages: Sequence[Message], schema: type[BaseModel]) -> tuple[Message, ...]:
    """`messages` with the schema and the demand to keep it at the end of the last turn."""
    *before, last = messages
    compact = json.dumps(_untitled(schema.model_json_schema()), separators=(",", ":"), ensure_ascii=False)
    demand = f"Reply with one JSON object that keeps this JSON schema, and nothing else:\n{compact}"
    return (*before, Message(last.role, f"{last.content}\n\n{demand}"))


def read_reply(reply: Reply, schema: type[S], asked: Sequence[Message] = ()) -> ParsedReply[S]:
    """The object of a reply to `asked`; a problem mentions it when the reply was cut off."""
    reading = read_object(reply.text or "", schema, "\n".join(turn.content for turn in asked))
    if reading.problem is None or not was_cut(reply.call.finish_reason):
        return reading
    return ParsedReply(None, f"{reading.problem}; the reply was cut off at the token limit, be brief")


def read_object(text: str, schema: type[S], prompt: str = "") -> ParsedReply[S]:
    """The last object in `text` that keeps `schema`, whatever stands around it: prose, code fences, earlier objects.

    Reasoning is no part of the reply. An object inside another one, or inside one that is not closed, is none; neither
    is one that is copied out of the `prompt` (an example's, say): one that is long enough to tell, or that stands
    behind the same text as there. What comes after a prompt that is repeated counts.
    """
    problem = "it holds no complete JSON object"
    found: S | None = None
    copied = False
    said, given = without_reasoning(text), _without_space(prompt)
    for candidate, start, end in _objects(said):
        if _is_copied(said, start, end, given):
            copied = True
            continue
        try:
            found = schema.model_validate_json(json.dumps(candidate))
        except ValidationError as error:
            problem = " ".join(content_problems(error, "the object").split())[:_MOST_PROBLEM_CHARS]
        except RecursionError:
            problem = "it is nested too deeply"
    return ParsedReply(None, REPEATS if copied else problem) if found is None else ParsedReply(found)


def _is_copied(text: str, start: int, end: int, given: str) -> bool:
    """Whether `text[start:end]`, alone or with what stands before it, is long enough to tell and stands in `given`."""
    if not given:
        return False
    alone = _without_space(text[start:end])
    if len(alone) < _TELLING:
        alone = _without_space(text[max(0, start - _LOOK_BACK) : start])[-_TELLING:] + alone
    return len(alone) >= _TELLING and alone in given


def _without_space(text: str) -> str:
    return "".join(text.split())


def _objects(text: str) -> Iterator[tuple[dict[str, Any], int, int]]:
    """The complete JSON objects in `text` that lie in no other, in order, and where; its length bounds the time.

    After a fault the search goes on where the object broke off, not inside it; after `_MOST_FAULTS` it ends.
    """
    end, faults = 0, 0
    while (opening := _OPENING.search(text, end)) and faults < _MOST_FAULTS:
        place = opening.start()
        try:
            value, end = _DECODER.raw_decode(text, place)
            yield value, place, end
        except json.JSONDecodeError as error:
            if error.msg.startswith("Unterminated string"):
                return
            end, faults = max(place + 1, error.pos), faults + 1
        except (ValueError, RecursionError):  # a number or a nesting beyond what Python reads
            return


def _untitled(node: Any) -> Any:
    """A schema without the titles that pydantic gives every field: they repeat the names, and cost tokens."""
    if isinstance(node, list):
        return [_untitled(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: value if key in _LITERAL_KEYS else _untitled(value)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str))
    }
