"""The folder of a trained router, as far as a setting can know it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from arena.errors import ConfigError


def router_sha(folder: Path) -> str:
    """16 hex digits that change with what the router is.

    Raises:
        ConfigError: there is no router.
    """
    try:
        content = (folder.expanduser() / "router.json").read_bytes()
    except OSError as error:
        raise ConfigError(
            f"router {str(folder)!r} cannot be read ({error.strerror}): it has no router.json; make one with "
            "`arena train-router RUN --out FOLDER`"
        ) from None
    return hashlib.sha256(content).hexdigest()[:16]
