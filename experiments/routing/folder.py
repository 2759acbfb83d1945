"""The folder of a router, written whole or not at all."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from arena.errors import ConfigError
from experiments.routing.card import card_text
from experiments.routing.outcome import RouterOutcome
from indexing.routing.opening import NAME, router_text, weights_sha256

CARD = "CARD.md"


def require_place(out: Path) -> None:
    """Refuse, before anything is worked out, a place where no new folder can be made."""
    if out.exists():
        raise ConfigError(f"{str(out)!r} is already there: choose another --out, or remove it first")
    if not out.absolute().parent.is_dir():
        raise ConfigError(f"cannot make {str(out)!r}: --out names a new folder inside one that is there")


def write_router(found: RouterOutcome, out: Path) -> None:
    """Write weights, router.json and CARD.md beside `out`, and put them in its place together.

    Raises:
        ConfigError: the disk refused, or `out` is there by now; nothing is left behind.
    """
    part = out.with_name(f".{out.name}.part")
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        found.trained.save(part)
        described = found.described(weights_sha256(part, found.kind))
        (part / NAME).write_text(router_text(described), encoding="utf-8")
        (part / CARD).write_text(card_text(found), encoding="utf-8")
        part.rename(out)
    except OSError as error:
        raise ConfigError(
            f"cannot write the router {str(out)!r} ({error.strerror or error}): choose another --out"
        ) from error
    finally:
        with suppress(OSError):
            shutil.rmtree(part, ignore_errors=True)
