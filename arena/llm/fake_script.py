"""Scripts of the fake model: what it replies, and which faults it plays.

    latency_seconds: 0.05            # of every call that sets none of its own
    rules:                           # the first that applies is played
      - when: "born in"              # regular expression, searched in the whole prompt; left out = always
        reply: "Paris"
      - when: "mayor"
        error: 429                   # an HTTP status from 400 to 599, `timeout` or `reset`
        message: "slow down"         # what the error says
        retry_after_seconds: 2
        times: 1                     # plays once, then no longer applies
    replies: ["first", "second"]     # used up in order by calls that no rule applies to

A call that neither covers is answered by the extractive rules of `arena.llm.fake`; with `replies` used up it
fails. The file is YAML or JSON.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import yaml
from pydantic import Field, ValidationError, field_validator, model_validator

from arena.config import Settings
from arena.errors import ModelSetupError

MAX_STATUS = 599
MIN_STATUS = 400


class Rule(Settings):
    """One scripted reaction: a reply or an error. `usage: false` leaves the token counts out of the reply."""

    when: str | None = None
    reply: str | None = None
    error: int | Literal["timeout", "reset"] | None = None
    message: str = "scripted error"
    retry_after_seconds: float | None = Field(default=None, ge=0)
    latency_seconds: float | None = Field(default=None, ge=0)
    times: int | None = Field(default=None, ge=1)
    usage: bool = True

    @field_validator("when")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        try:
            re.compile(value or "")
        except re.error as error:
            raise ValueError(f"no regular expression: {error}") from None
        return value

    @field_validator("error")
    @classmethod
    def _is_an_error_status(cls, value: int | str | None) -> int | str | None:
        if isinstance(value, int) and not MIN_STATUS <= value <= MAX_STATUS:
            raise ValueError(f"a status of an error lies in {MIN_STATUS}..{MAX_STATUS}")
        return value

    @model_validator(mode="after")
    def _reacts_in_one_way(self) -> Rule:
        if (self.reply is None) == (self.error is None):
            raise ValueError("exactly one of 'reply' and 'error' is needed")
        return self


class Script(Settings):
    """A whole script; empty = every call is answered by the extractive rules."""

    latency_seconds: float = Field(default=0.0, ge=0)
    rules: tuple[Rule, ...] = ()
    replies: tuple[str, ...] = ()


class Playback:
    """A script being played: counts what is used up. Returns the reaction to each prompt, in order of asking."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._played = [0] * len(script.rules)
        self._replied = 0

    def react(self, prompt: str) -> Rule | None:
        """The rule to play for `prompt`; None = the script says nothing."""
        for place, rule in enumerate(self._script.rules):
            used_up = rule.times is not None and self._played[place] >= rule.times
            if not used_up and re.search(rule.when or "", prompt):
                self._played[place] += 1
                return rule
        if not self._script.replies:
            return None
        self._replied += 1
        if self._replied > len(self._script.replies):
            return Rule(error=MIN_STATUS, message="the script's replies are used up")
        return Rule(reply=self._script.replies[self._replied - 1])

    def latency_seconds(self, rule: Rule | None) -> float:
        own = rule.latency_seconds if rule is not None else None
        return self._script.latency_seconds if own is None else own


def read_script(path: Path) -> Script:
    """The script in `path`.

    Raises:
        ModelSetupError: the file is missing, is no YAML or JSON, or a field is unknown or out of range.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelSetupError(f"no fake script {str(path)!r}: check the path, or use 'fake:' for none") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ModelSetupError(f"cannot read fake script {str(path)!r}: {error}") from None
    except yaml.YAMLError as error:
        raise ModelSetupError(f"fake script {str(path)!r} is no YAML or JSON: {' '.join(str(error).split())}") from None
    try:
        return Script.model_validate(content or {})
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(part) for part in item['loc']) or 'the file'}: {item['msg'].removeprefix('Value error, ')}"
            for item in error.errors()
        )
        raise ModelSetupError(f"fake script {str(path)!r}: {problems}") from None
