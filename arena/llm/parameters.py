"""How one request to a model is set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
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
        values = {
            TEMPERATURE: self.temperature is not None,
            TOP_P: self.top_p is not None,
            SEED: self.seed is not None,
            MAX_TOKENS: self.max_tokens is not None,
            STOP: bool(self.stop),
            LOGPROBS: self.alternatives > 0,
            SPECIAL_TOKENS: self.special_tokens,
            SYSTEM_ROLE: self.system_role,
            REPEATED_ROLES: self.repeated_roles,
        }
        sent = {name for name, is_sent in values.items() if is_sent}
        return frozenset(sent if self.form is None else sent | {self.form})

    def as_mapping(self) -> Mapping[str, object]:
        """For telling requests apart; the forms of the conversation are told by the conversation itself."""
        return {name: value for name, value in asdict(self).items() if name not in FORMS_OF_CONVERSATION}


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
