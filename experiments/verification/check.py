"""One thing that was looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from arena.errors import UserError

State = Literal["ok", "differs", "not checked", "note"]
"""`not checked`: what it takes is not on this machine. `note`: another machine or time, and no fault of the run's."""

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, how it stands, and what was seen: figures where it is well, differences where it is not."""

    name: str
    state: State
    seen: tuple[str, ...] = ()


def found(name: str, wrong: Iterable[str], well: str = "") -> Check:
    """`differs` with what is wrong, if anything is; else `ok` with what is well."""
    lines = tuple(wrong)
    more = (f"and {len(lines) - _SHOWN} more",) if len(lines) > _SHOWN else ()
    return Check(name, "differs", lines[:_SHOWN] + more) if lines else Check(name, "ok", (well,) if well else ())


def attempted(name: str, check: Callable[[], Check]) -> Check:
    """The check, or the message of what kept it from being made: a file that cannot be read is a difference."""
    return next(several(name, _one(check)))


def several(name: str, checks: Iterator[Check]) -> Iterator[Check]:
    """Checks that are made one after the other, and the message of what ended them early."""
    try:
        yield from checks
    except FileNotFoundError as error:
        yield Check(name, "differs", (f"there is no {str(error.filename)!r}",))
    except (UserError, OSError) as error:
        yield Check(name, "differs", (str(error),))
    except (KeyError, TypeError, AttributeError) as error:
        yield Check(name, "differs", (f"manifest.json lacks what it must hold ({type(error).__name__}: {error})",))


def _one(check: Callable[[], Check]) -> Iterator[Check]:
    """One check, made when it is asked for."""
    yield check()
