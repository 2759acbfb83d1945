"""Which parameter a model refuses, read from the error it answered with.

Providers agree on no form for this. OpenAI's errors name the parameter in a field; most others name it in a sentence.
A bound that was overstepped is no refusal of the parameter: "max_tokens is too large" is for the user to mend.
What the template of a model refuses in a conversation (a system turn, two turns of one role) is read in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from arena.llm.parameters import (
    FORMS_OF_CONVERSATION,
    JSON_MODE,
    JSON_SCHEMA,
    LOGPROBS,
    MAX_TOKENS,
    REPEATED_ROLES,
    SEED,
    SPECIAL_TOKENS,
    STOP,
    SYSTEM_ROLE,
    TEMPERATURE,
    TOP_P,
    Parameters,
)

_JSON = r"response_?format|json[ _-]?(?:schema|object|mode)|structured[ _-]outputs?"
_ALTERNATE = r"(?:roles?|messages?|turns?)\b.{0,40}\balternat(?:es?|ing)|alternat(?:es?|ing)\b.{0,40}\broles?"
_SPELLINGS: Mapping[str, str] = {
    TEMPERATURE: "temperature",
    TOP_P: "top_?p",
    SEED: "(?:random_)?seed",
    STOP: "stop_?sequences?|(?<=['\"`])stop(?=['\"`])|parameters?:? stop|stop parameter",
    MAX_TOKENS: "max_(?:completion_|output_|new_)?tokens|max_?output_?tokens|num_predict",
    LOGPROBS: "(?:top_|response_)?log_?probs?|log[ -]probabilit(?:y|ies)",
    SPECIAL_TOKENS: "skip_special_tokens|spaces_between_special_tokens",
    JSON_SCHEMA: _JSON,
    JSON_MODE: _JSON,
    REPEATED_ROLES: _ALTERNATE,
    # A template that knows two roles only calls a system turn before the user's a failure to alternate.
    SYSTEM_ROLE: r"system[ _-]?(?:role|message|prompt|instruction|turn)s?|['\"`]system['\"`]|developer instruction"
    rf"|user and assistant roles|{_ALTERNATE}",
}
_NAMES = {name: re.compile(rf"(?<![a-z_])(?:{spelling})(?![a-z_])", re.I) for name, spelling in _SPELLINGS.items()}
_REFUSES = re.compile(
    r"unsupported|unrecogni[sz]ed|unknown|unexpected|deprecated|forbidden|incompatible|disabled|no longer"
    r"|n[o']t (?:\w+ )?(?:support|allow|permit|accept|available|enabled|recogni[sz]|implement|valid|compatible|take)"
    r"|(?:cannot|can't|can not) (?:both )?be (?:set|used|specified|combined)"
    r"|alternat(?:es?|ing)\b"
    r"|only (?:be|the default|.{1,30} (?:is|are) (?:allowed|supported|accepted))",
    re.I,
)
# Without these a reply still comes, if a less certain one: any complaint about them is reason enough.
_GIVEN_UP_EASILY = frozenset({LOGPROBS, JSON_SCHEMA, JSON_MODE, SPECIAL_TOKENS})
_NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?![\w.]*\d)")
_MOST_CHARS = 10_000  # of an error's text: what names a parameter stands near its beginning


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A parameter the model does not take. `most_alternatives`: it does take log-probabilities, with so many."""

    name: str
    most_alternatives: int | None = None


def read_unsupported(
    links: Sequence[BaseException], sent: Parameters, *, refused_by_server: bool, status: int | None = None
) -> Unsupported | None:
    """The parameter of `sent` that an error and its causes (`links`) refuse; None = they are about something else.

    Of an error of the server's own (`status` 500) only the forms of a conversation are read: some servers call it that
    when a template refuses one.
    """
    text = " ".join(" ".join(str(link)[:_MOST_CHARS] for link in links).split())
    candidates = sent.names & FORMS_OF_CONVERSATION if status == HTTPStatus.INTERNAL_SERVER_ERROR else sent.names
    name = _named(_parameter_field(links), text, candidates)
    if name is None or not ((refused_by_server and name in _GIVEN_UP_EASILY) or _REFUSES.search(text)):
        return None
    return Unsupported(name, _most_alternatives(text, sent.alternatives) if name == LOGPROBS else None)


def _parameter_field(links: Iterable[BaseException]) -> str | None:
    fields = (getattr(link, "param", None) for link in links)
    return next((field for field in fields if isinstance(field, str) and field), None)


def _named(field: str | None, text: str, candidates: frozenset[str]) -> str | None:
    """The candidate that `field` names, or that `text` names first.

    A field that names none leaves forms of JSON and of a conversation.
    """
    if field is not None:
        quoted = f"'{re.split(r'[.[]', field)[0]}'"
        named = next((name for name in sorted(candidates) if _NAMES[name].search(quoted)), None)
        if named is not None:
            return named
        candidates &= {JSON_SCHEMA, JSON_MODE, *FORMS_OF_CONVERSATION}
    # Told not to set both, it is the sampling cut-off that goes: "top_p" sorts after "temperature".
    places = {name: found.start() for name in candidates if (found := _NAMES[name].search(text))}
    if places.keys() >= {TEMPERATURE, TOP_P} and re.search(r"\bboth\b", text, re.I):
        return TOP_P
    # "After the optional system message, roles must alternate" is no complaint about the system's.
    if REPEATED_ROLES in places:
        return REPEATED_ROLES
    return min(places, key=lambda name: (places[name], name), default=None)


def _most_alternatives(text: str, asked: int) -> int | None:
    """The bound that a complaint about too many alternatives states."""
    return max((number for found in _NUMBER.findall(text) if 1 <= (number := int(found)) < asked), default=None)
