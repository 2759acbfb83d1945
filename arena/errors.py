"""Everything that can go wrong, as one tree.

    ArenaError
    +-- UserError                the user must fix something: message, exit code 2, no traceback
    |   +-- ConfigError          a setting is unknown, mistyped or contradictory
    |   +-- UnknownNameError     no dataset, strategy, mode or model of that name
    |   +-- DatasetError         a data file is missing, malformed or inconsistent
    |   +-- WeightsError         model weights are missing, unreachable or not what they should be
    |   +-- IndexMismatchError   an index on disk was built from something else
    |   +-- RunStoreError        a run folder cannot be read, written or continued
    |   +-- ModelSetupError      a language model cannot be reached, opened or authorised
    |   +-- RunInterrupted         the user stopped a run; what is done is kept
    +-- TrackingError            MLflow could not be written; the run itself is whole
    +-- ModelCallError           one call to a language model failed after all its attempts
    +-- StrategyError            a strategy broke its contract on one question

A message says what failed, on which value, and what to do next. `ModelCallError` and `StrategyError`
concern one question: the runner turns them into a `Failure` value and goes on.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


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
        near = difflib.get_close_matches(name, options, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}? " if near else ""
        super().__init__(f"unknown {what} {name!r}: {hint}known are {', '.join(options)}")
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


class RunInterrupted(UserError):  # noqa: N818  it is no error, but it ends the command like one
    """The user stopped a run; what is done is kept, and the message says how to continue."""


class TrackingError(ArenaError):
    """MLflow could not be written; the run itself is whole."""


class ModelCallError(ArenaError):
    """One call to a language model failed after all its attempts; its ledger entry is kept."""


class StrategyError(ArenaError):
    """A strategy broke its contract on one question (no answer, unknown passage, ...)."""
