"""A system of the user's own that competes live: how it is asked, and what of its settings identifies it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, field_validator, model_validator

from arena.config.settings import MOST_AT_ONCE, Settings
from arena.errors import ConfigError
from arena.network import address_without_secret, key_variable, redacted
from arena.types import UNSTATED

SystemKind = Literal["http", "python", "command"]

KINDS: tuple[SystemKind, ...] = ("http", "python", "command")

_FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,99}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_ONLY_FOR: dict[str, SystemKind] = {
    "api_key_variable": "http",
    "api_key_header": "http",
    "retries": "http",
    "environment": "command",
    "restarts": "command",
}


class SystemConfig(Settings):
    """One system of the user's own, asked every question live: exactly one of `http`, `python` and `command`.

    `http`: an address that each question is POSTed to. `python`: `package.module:function`, sync or async. `command`:
    a program that reads a JSON line per question and writes one. `version` says which state of the system it is, and is
    part of its identity: give it another one whenever the system changes. `model` writes its answers, as PROVIDER:NAME
    where it is to be priced; `k`: how many documents it asks for, if it is always the same number.
    """

    model_config = ConfigDict(hide_input_in_errors=True)

    http: str | None = None
    python: str | None = None
    command: tuple[str, ...] | None = Field(default=None, description="Program and arguments; no shell reads them.")
    version: str | None = Field(default=None, min_length=1, max_length=200)
    model: str = UNSTATED
    k: int | None = Field(default=None, ge=1, le=10**9)
    answers: bool = Field(default=True, description="False for a system that only retrieves.")
    timeout_seconds: float = Field(default=120.0, gt=0, description="For one answer; what takes longer has failed.")
    retries: int = Field(
        default=2, ge=0, le=100, description="Further requests where none was answered: no connection, 429, 5xx."
    )
    concurrency: int | None = Field(
        default=None,
        ge=1,
        le=MOST_AT_ONCE,
        description="Questions at once; of a command, processes. None = 8, and 1 for a command or a plain function.",
    )
    breaker_failures: int = Field(
        default=8, ge=1, description="Questions without an answer in a row that end the run, to be continued."
    )
    api_key_variable: str | None = Field(default=None, description="Environment variable that holds the key.")
    api_key_header: str = Field(
        default="Authorization", description="Header that carries it, under this name as `Bearer KEY`."
    )
    environment: tuple[str, ...] = Field(
        default=(), description="Variables that hold keys and that the command is to have; all others it has anyway."
    )
    restarts: int = Field(default=10, ge=0, description="Times that a command is started again after it died.")

    @model_validator(mode="before")
    @classmethod
    def _in_one_line(cls, value: object) -> object:
        """A system may be written as on the command line: `http:URL`."""
        return _parsed(value, value) if isinstance(value, str) else value

    @field_validator("http")
    @classmethod
    def _is_an_address(cls, value: str | None) -> str | None:
        if value is None:
            return None
        address_without_secret("http", value, "api_key_variable")
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"http is {value!r}, which is no address: write http://HOST:PORT/PATH")
        return value

    @field_validator("python")
    @classmethod
    def _is_a_function(cls, value: str | None) -> str | None:
        if value is not None and _FUNCTION.fullmatch(value) is None:
            raise ValueError(f"python is {value!r}, which names no function: write package.module:function")
        return value

    @field_validator("command", mode="before")
    @classmethod
    def _is_a_command(cls, value: object) -> object:
        """A text is split as a shell would; nothing in it may look like a key, for it is kept in the run's files."""
        try:
            words: Any = shlex.split(value) if isinstance(value, str) else value
        except ValueError as error:
            raise ValueError(f"command is {value!r}, which cannot be split into words: {error}") from None
        if isinstance(words, list | tuple):
            if not words or not str(words[0]).strip():
                raise ValueError("command is empty: write the program and its arguments")
            if any("\0" in str(word) for word in words):
                raise ValueError("command holds a NUL character, which no program can be given")
            line = " ".join(map(str, words))
            if redacted(line) != line:
                raise ValueError(
                    "command holds what looks like a key, and would be kept in the files of every run: let the program "
                    "read it from an environment variable, and name that in environment"
                )
        return words

    @field_validator("model")
    @classmethod
    def _is_a_model(cls, value: str) -> str:
        if value != UNSTATED and value.find(":") < 1:
            raise ValueError(f"model is {value!r}, which names no model: write PROVIDER:NAME, or leave it out")
        return value

    @field_validator("api_key_variable")
    @classmethod
    def _names_a_key(cls, value: str | None) -> str | None:
        return None if value is None else key_variable("api_key_variable", value)

    @field_validator("api_key_header")
    @classmethod
    def _is_a_header(cls, value: str) -> str:
        if _HEADER.fullmatch(value) is None:
            raise ValueError(f"api_key_header is {value!r}, which is no name of a header: as in X-Api-Key")
        return value

    @field_validator("environment")
    @classmethod
    def _names_variables(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if any(_VARIABLE.fullmatch(name) is None for name in names):
            raise ValueError("environment is to hold names of environment variables, never what is in them")
        return names

    @model_validator(mode="after")
    def _asked_in_one_way(self) -> SystemConfig:
        ways = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(ways) != 1:
            told = f"sets {' and '.join(ways)}" if ways else "says nowhere how it is asked"
            raise ValueError(f"the system {told}: set exactly one of http, python and command")
        for name, kind in _ONLY_FOR.items():
            changed = getattr(self, name) != type(self).model_fields[name].default
            if changed and getattr(self, kind) is None:
                raise ValueError(f"{name} is for systems with {kind}: leave it out")
        return self

    @property
    def kind(self) -> SystemKind:
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    @property
    def target(self) -> str:
        """Whom it asks, in one line."""
        return shlex.join(self.command) if self.command is not None else str(self.http or self.python)

    @property
    def typed(self) -> str:
        """The way it is asked as `--system NAME=` takes it."""
        return f"{self.kind}:{self.target}"


def check_system_name(name: str) -> str:
    """`name`, if it can be that of a system. Raises ValueError."""
    if _NAME.fullmatch(name) is None:
        raise ValueError(f"{name!r} is no name for a system: use up to 100 letters, digits, - and _")
    return name


def parse_systems(texts: Sequence[str]) -> dict[str, dict[str, str]]:
    """`NAME=http:URL`, `NAME=python:module:function` or `NAME=command:LINE`, as the key `systems` of a config.

    Raises:
        ConfigError: one is nothing of these, or a name is there twice.
    """
    found: dict[str, dict[str, str]] = {}
    for text in texts:
        name, _, target = (part.strip() for part in text.partition("="))
        if name in found:
            raise ConfigError(f"--system names {name!r} twice: give each system a name of its own")
        try:
            found[check_system_name(name)] = _parsed(target, text)
        except ValueError as error:
            raise ConfigError(f"--system {error}") from None
    return found


def _parsed(target: str, text: str) -> dict[str, str]:
    """The setting in `KIND:TARGET`; `text` is what the user wrote. Raises ValueError."""
    kind, _, rest = target.partition(":")
    if kind in ("http", "https") and rest.startswith("//"):
        kind, rest = "http", target
    if kind not in KINDS or not rest.strip():
        raise ValueError(
            f"{text!r} names no system: write NAME=http:URL, NAME=python:module:function or "
            "NAME='command:PROGRAM ARGUMENTS'"
        )
    return {kind: rest}
