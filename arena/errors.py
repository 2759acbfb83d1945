"""Everything that can go wrong, as one tree.

A `UserError` is the user's to mend: message, exit code 2, no traceback. A message says what failed, on which value, and
what to do next. `ModelCallError`, `AllowanceSpent` and `StrategyError` concern one question: the runner turns what a
strategy lets through into a `Failure` value and goes on.
"""

from __future__ import annotations

import difflib
import errno
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import ValidationError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}
_SQLITE_FULL = {sqlite3.SQLITE_FULL}
_SQLITE_FORBIDDEN = {sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_AUTH}
_SQLITE_HELD = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_SQLITE_UNLOCKABLE = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PROTOCOL}


class ArenaError(Exception):
    """Base of every error this project raises on purpose."""


class UserError(ArenaError):
    """Something only the user can mend; shown without a traceback, exit code 2."""


class ConfigError(UserError):
    """A setting is unknown, mistyped or contradicts another."""


class UnknownNameError(UserError):
    """A name is in no registry; the message offers the nearest known ones."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        options = sorted(known)
        near = nearest(name, options)
        super().__init__(f"unknown {what} {name!r}: {f'did you mean {near!r}? ' if near else ''}{_known(options)}")
        self.name = name


class DatasetError(UserError):
    """A data file is missing, malformed or inconsistent."""


class WeightsError(UserError):
    """Model weights are missing, unreachable, or do not have the pinned hash."""


class IndexMismatchError(UserError):
    """An index on disk was built from another corpus or with other settings."""


class RunStoreError(UserError):
    """A run folder cannot be read, written or continued."""


class ModelSetupError(UserError):
    """A language model cannot be reached, opened or authorised."""


class ProviderDownError(UserError):
    """A provider fails call after call; the run stops, and says how to go on."""


class BudgetError(UserError):
    """The run has spent the money or the tokens it may; what is done is kept."""


class RunInterrupted(UserError):  # noqa: N818  it is no error, but it ends the command like one
    """The user stopped a run; what is done is kept, and the message says how to continue."""


class TrackingError(ArenaError):
    """MLflow could not be written; the run itself is whole."""


class ModelCallError(ArenaError):
    """One call to a language model failed after all its attempts; its ledger entry is kept."""


class SystemCallError(ModelCallError):
    """A system of the user's own gave no answer to one question, after all requests that were allowed."""


class UnreadableReplyError(ModelCallError):
    """A reply is not in the form asked for, not even after a repair turn. `raw` is the last reply's text."""

    def __init__(self, message: str, raw: str) -> None:
        super().__init__(message)
        self.raw = raw


class PromptTooLongError(ModelCallError):
    """A server refused a prompt because it does not fit the model's window; with less evidence it may."""


class AllowanceSpent(ArenaError):  # noqa: N818  it ends a question's search, and is no error of anyone
    """One question has used up the calls or tokens it may use."""


class StrategyError(ArenaError):
    """A strategy broke its contract on one question (no answer, unknown passage, ...)."""


def storage_advice(error: OSError | sqlite3.Error) -> str:
    """What to do where a file of the cache cannot be written: by what the fault is, and where the cache may go."""
    elsewhere = "set ARENA_CACHE to another folder"
    number = getattr(error, "errno", None)
    code = getattr(error, "sqlite_errorcode", None)
    code = None if code is None else code & 0xFF  # extended codes tell more than is needed
    if number in _FULL or code in _SQLITE_FULL:
        return f"the disk is full: make room, or {elsewhere}"
    if number in _FORBIDDEN or code in _SQLITE_FORBIDDEN:
        return f"this user may not write there: change its permissions, or {elsewhere}"
    if code in _SQLITE_HELD:
        return f"another process holds it: wait for it, or {elsewhere}"
    if code in _SQLITE_UNLOCKABLE:
        return (
            "the disk fails, or it is a network file system without SQLite's locks: set ARENA_CACHE to a local folder"
        )
    return elsewhere


def nearest(name: str, known: Iterable[str], *, likeness: float = 0.5) -> str | None:
    """The known name that is most like `name`; None where none is as like it as `likeness`, between 0 and 1."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=likeness)
    return near[0] if near else None


def hint(name: str, known: Iterable[str]) -> str:
    """What a user who wrote the unknown `name` may have meant: the nearest known name, or else all of them."""
    options = sorted(known)
    near = nearest(name, options)
    return _known(options) if near is None else f"did you mean {near!r}?"


def _known(options: Sequence[str]) -> str:
    return f"known are {', '.join(options)}"


Location = tuple[int | str, ...]
"""Keys and indexes that lead to a value in nested settings."""

_MOST_SHOWN = 200
"""Characters of a refused value."""


def setting_problems(error: ValidationError, known: Callable[[Location], Iterable[str]], *, under: str = "") -> str:
    """All that is wrong with settings, in one line.

    `known`: the names of the settings at a location. `under`: what leads to what was validated, for messages.
    """
    return "; ".join(text for item in error.errors() if (text := _setting_problem(item, known, under)))


def _setting_problem(item: Any, known: Callable[[Location], Iterable[str]], under: str) -> str:
    place = ".".join(map(str, (under, *item["loc"]) if under else item["loc"]))
    shown, message = repr(item["input"]), problem_text(item)
    shown = shown if len(shown) <= _MOST_SHOWN else f"{shown[:_MOST_SHOWN]}..."
    match item["type"]:
        case "extra_forbidden":
            options = list(known(item["loc"][:-1]))
            meant = hint(str(item["loc"][-1]), options) if options else "there are none"
            return f"unknown setting {place!r}: {meant}"
        case "missing":
            return f"{place!r} is missing: it has no default"
        case "tuple_type":
            return f"{place!r} is {shown}: write a list, as in [{item['input']}]"
        case "too_short":  # where there are values, each was refused with a problem of its own
            return "" if item["input"] else f"{place!r} is empty: name at least one, or leave it out"
        case "value_error":
            return message + (f" (in {place!r})" if place else "")
    return f"{place!r} is {shown}: {message[0].lower()}{message[1:]}"


def problem_text(item: Any) -> str:
    """What pydantic says of a problem, in the words of whoever wrote the file: JSON and YAML know lists, no tuples."""
    return str(item["msg"]).removeprefix("Value error, ").replace("valid tuple", "valid list")


def content_problems(error: ValidationError, whole: str, *, most: int | None = None) -> str:
    """What is wrong with a file's or a reply's content, without its values: `most` problems (None: all), in one line.

    `whole` names what was validated, where a problem has no field.
    """
    return "; ".join(
        f"{'.'.join(map(str, item['loc'])) or whole}: {problem_text(item)}"
        for item in error.errors(include_url=False, include_context=False, include_input=False)[:most]
    )
