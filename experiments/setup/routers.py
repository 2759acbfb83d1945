"""The trained routers that contestants ask for by their settings: each for its own reader, each opened once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from arena.config import RunConfig
from arena.errors import ConfigError
from arena.llm import model_identity
from arena.protocols import Embedder, Router
from strategies import Variant

if TYPE_CHECKING:
    from indexing.routing import RouterFile


def router_folder(variant: Variant) -> str | None:
    """The folder of the router that a variant asks for; None = it asks for none."""
    wanted = variant.trained
    return wanted.model if wanted is not None and wanted.role == "router" else None


def check_readers(config: RunConfig, variants: Iterable[Variant]) -> None:
    """Refuse a router that was trained on the outcomes of another model than the run's.

    Raises:
        ConfigError: it names both.
        WeightsError: a folder holds no router.
    """
    reader = model_identity(config.llm)
    for folder in _folders(variants):
        said = router_of(folder)
        if said.reader != reader:
            raise ConfigError(
                f"router {folder!r} was trained on what {said.reader!r} answers, and the run's model is {reader!r}: "
                "what one model needs to look up, another knows; train a router on a run of this model"
            )


def open_routers(
    variants: Iterable[Variant], embedder: Embedder, models: Lock, devices: Sequence[str] | None
) -> Mapping[str, Router]:
    """Folder -> router, of all that the variants want. `models` is held while the embedder works.

    Raises as `indexing.routing.open_router` does.
    """
    from indexing.routing import open_router

    return {
        folder: open_router(Path(folder).expanduser(), embedder, models, devices=devices)
        for folder in _folders(variants)
    }


def router_of(folder: str) -> RouterFile:
    """What the router in a folder says of itself. Raises `WeightsError` where there is none."""
    from indexing.routing import read_router_file

    return read_router_file(Path(folder).expanduser())


def _folders(variants: Iterable[Variant]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(folder for one in variants if (folder := router_folder(one)) is not None))
