"""What a model turned out not to take, learned from its refusals: once for all calls."""

from __future__ import annotations

from collections.abc import Iterable

from arena.llm.parameters import (
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
from arena.llm.unsupported import Unsupported

_MOST_ALTERNATIVES = 20  # of OpenAI; servers that take fewer say so


class Capabilities:
    """Fits what is asked for to what the model takes. It only ever learns to send less, or under another name."""

    def __init__(self, refused: Iterable[str] = (), *, has_other_limit: bool = False) -> None:
        """`refused`: what is known beforehand. `has_other_limit`: the bound of a reply has a second name to try."""
        self._has_other_limit = has_other_limit
        self._other_limit_name = False
        self._refused = set(refused)
        self._most_alternatives = _MOST_ALTERNATIVES

    @property
    def refused(self) -> frozenset[str]:
        """The parameters that are left out of every request."""
        return frozenset(self._refused)

    def fit(self, asked: Parameters) -> Parameters:
        """`asked` without what is refused; a refused schema becomes JSON mode, and that no form at all."""
        refused = self._refused
        form = asked.form
        if form == JSON_SCHEMA and JSON_SCHEMA in refused:
            form = "json_mode"
        if form == JSON_MODE and JSON_MODE in refused:
            form = None
        return Parameters(
            temperature=None if TEMPERATURE in refused else asked.temperature,
            top_p=None if TOP_P in refused else asked.top_p,
            seed=None if SEED in refused else asked.seed,
            max_tokens=None if MAX_TOKENS in refused else asked.max_tokens,
            stop=() if STOP in refused else asked.stop,
            alternatives=0 if LOGPROBS in refused else min(asked.alternatives, self._most_alternatives),
            form=form,
            special_tokens=asked.special_tokens and SPECIAL_TOKENS not in refused,
            other_limit_name=self._other_limit_name,
            system_role=asked.system_role and SYSTEM_ROLE not in refused,
            repeated_roles=asked.repeated_roles and REPEATED_ROLES not in refused,
        )

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
