"""The parameters of a request to a model, and what a model turned out not to take.

A refusal is read from the provider's error and then holds for all calls. Providers agree on no form for it: OpenAI's
errors name the parameter in a field; most others name it in a sentence. A bound that was overstepped is no refusal of
the parameter: "max_tokens is too large" is for the user to mend. What the template of a model refuses in a conversation
(a system turn, two turns of one role) is read in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from http import HTTPStatus
from itertools import pairwise
from typing import Literal

from arena.config import LLMSettings
from arena.protocols import ModelRequest

TEMPERATURE = "temperature"
TOP_P = "top_p"
SEED = "seed"
STOP = "stop"
MAX_TOKENS = "max_tokens"
LOGPROBS = "logprobs"
JSON_SCHEMA = "json_schema"
JSON_MODE = "json_mode"
SPECIAL_TOKENS = "special_tokens"
SYSTEM_ROLE = "system_role"
REPEATED_ROLES = "repeated_roles"

FORMS_OF_CONVERSATION = frozenset({SYSTEM_ROLE, REPEATED_ROLES})
"""What a conversation has that the template of a model may refuse: the same words are then laid out without it."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """What is sent beside the prompt; None, empty and 0 are not sent.

    `max_tokens` goes by its other name when `other_limit_name`. `form`: the reply is held to the request's JSON schema,
    or to some JSON. `special_tokens`: the server is asked to spell them out (a completion only). `system_role`: the
    conversation has a turn of that role, and `repeated_roles`: turns of one role follow each other.
    """

    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    alternatives: int = 0
    form: Literal["json_schema", "json_mode"] | None = None
    special_tokens: bool = False
    other_limit_name: bool = False
    system_role: bool = False
    repeated_roles: bool = False

    @property
    def names(self) -> frozenset[str]:
        """The parameters that are sent."""
        sent = {name for name, field in _FIELDS.items() if getattr(self, field) != getattr(_NOTHING, field)}
        return frozenset(sent if self.form is None else sent | {self.form})

    def as_mapping(self) -> Mapping[str, object]:
        """For telling requests apart; the forms of the conversation are told by the conversation itself."""
        return {name: value for name, value in asdict(self).items() if name not in FORMS_OF_CONVERSATION}


_NOTHING = Parameters()
_PLAIN = (TEMPERATURE, TOP_P, SEED, MAX_TOKENS, STOP, SPECIAL_TOKENS, SYSTEM_ROLE, REPEATED_ROLES)
_FIELDS: Mapping[str, str] = {**{name: name for name in _PLAIN}, LOGPROBS: "alternatives"}
"""What can be left out by itself -> its field of `Parameters`."""


def parameters_of(
    settings: LLMSettings, request: ModelRequest, *, takes_schema: bool, takes_logprobs: bool
) -> Parameters:
    """What `request` asks for under `settings`, as if the model took all of it."""
    is_completion = isinstance(request.prompt, str)
    roles = () if isinstance(request.prompt, str) else tuple(turn.role for turn in request.prompt)
    limit = settings.max_tokens if request.room is None else max(request.room, settings.max_tokens)
    has_form = request.json_schema is not None and takes_schema and not is_completion
    return Parameters(
        temperature=settings.temperature,
        top_p=settings.top_p,
        # Another sample of the same prompt: with the same seed it would be the same reply.
        seed=None if settings.seed is None else settings.seed + request.sample,
        max_tokens=limit if request.limit is None else request.limit,
        stop=request.stop,
        alternatives=request.alternatives if takes_logprobs or is_completion else 0,
        form="json_schema" if has_form else None,
        special_tokens=is_completion,
        system_role="system" in roles,
        repeated_roles=any(one == other for one, other in pairwise(roles)),
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


_MOST_ALTERNATIVES = 20  # of OpenAI; servers that take fewer say so


class Capabilities:
    """Fits what is asked for to what the model takes. It only ever learns to send less, or under another name."""

    def __init__(self, refused: Iterable[str] = (), *, has_other_limit: bool = False) -> None:
        """`refused`: what is known beforehand. `has_other_limit`: the bound of a reply has a second name to try."""
        self._has_other_limit = has_other_limit
        self._other_limit_name = False
        self._refused = set(refused)
        self._most_alternatives = _MOST_ALTERNATIVES

    def fit(self, asked: Parameters) -> Parameters:
        """`asked` without what is refused; a refused schema becomes JSON mode, and that no form at all."""
        form = asked.form
        if form == JSON_SCHEMA and JSON_SCHEMA in self._refused:
            form = "json_mode"
        if form == JSON_MODE and JSON_MODE in self._refused:
            form = None
        fitted = replace(
            asked,
            form=form,
            alternatives=min(asked.alternatives, self._most_alternatives),
            other_limit_name=self._other_limit_name,
        )
        left_out = {_FIELDS[name] for name in self._refused & _FIELDS.keys()}
        return replace(fitted, **{field: getattr(_NOTHING, field) for field in left_out})

    def left_out(self, asked: Parameters) -> tuple[str, ...]:
        """Names of what `asked` has and its request lacks."""
        after_form = {JSON_MODE} if asked.form == JSON_SCHEMA else set()
        return tuple(sorted((asked.names | after_form) & self._refused))

    def learn(self, found: Unsupported, sent: Parameters) -> bool:
        """Take note of a refusal of `sent`; False = there is nothing that the next request could do better.

        Another call may have learned the same in the meantime: then the next request is better already.
        """
        if found.name == LOGPROBS and found.most_alternatives is not None:
            self._most_alternatives = min(self._most_alternatives, found.most_alternatives)
        elif found.name == MAX_TOKENS and self._has_other_limit and not sent.other_limit_name:
            self._other_limit_name = True
        else:
            self._refused.add(found.name)
        return self.fit(sent) != sent
