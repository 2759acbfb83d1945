"""From a folder to a router that can be asked."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from arena.errors import ConfigError, WeightsError
from arena.protocols import Embedder, Router
from indexing.embedding.model_folder import folder_identity
from indexing.routing.light import WEIGHTS, LightRouter, read_light
from indexing.routing.router_file import RouterFile, RouterKind, query_identity, read_router_file
from indexing.routing.t5 import MODEL, T5Router


def open_router(
    folder: Path,
    embedder: Embedder,
    models: threading.Lock | None = None,
    *,
    devices: Sequence[str] | None = None,
) -> Router:
    """The router in `folder`, checked against its own description.

    Args:
        folder: as `arena train-router` wrote it.
        embedder: that of the run, which a light router asks.
        models: held while the embedder works; see `LightRouter`.
        devices: where a T5 runs.

    Raises:
        WeightsError: the folder is incomplete, or its weights are not those that it was written with.
        ConfigError: it was trained on the vectors of another embedder.
    """
    said = read_router_file(folder)
    found = weights_sha256(folder, said.kind)
    if found != said.weights_sha256:
        raise WeightsError(
            f"the weights of router {str(folder)!r} have SHA-256 {found}, and {said.weights_sha256} was written: "
            "restore the folder, or train it again"
        )
    identity: dict[str, str | int] = {"router": said.called, "weights_sha256": found, "reader": said.reader}
    if said.kind == "t5":
        return T5Router(folder / MODEL, said.labels, identity, devices=devices)
    _check_embedder(folder, said, embedder.identity)
    weights = read_light(folder, len(said.labels), embedder.dimension)
    return LightRouter(weights, said.labels, identity, embedder, models)


def weights_sha256(folder: Path, kind: RouterKind) -> str:
    """Of all that changes a probability.

    Raises:
        WeightsError: nothing is there.
    """
    if kind == "light":
        try:
            return hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()
        except OSError as error:
            raise WeightsError(
                f"no weights of a router in {str(folder)!r} ({error.strerror}): train it again"
            ) from None
    parts = folder_identity(folder / MODEL)
    return hashlib.sha256("\n".join(map(str, parts.values())).encode()).hexdigest()


def _check_embedder(folder: Path, said: RouterFile, embedder: Mapping[str, str | int]) -> None:
    known, now = dict(said.embedder or {}), query_identity(embedder)
    differing = [name for name in (*known, *now) if known.get(name) != now.get(name)]
    if differing:
        name = differing[0]
        raise ConfigError(
            f"router {str(folder)!r} reads the vectors of {known.get('model')!r}, and the run embeds with "
            f"{now.get('model')!r} ({name}: {known.get(name)!r} -> {now.get(name)!r}): set embedding as it was, or "
            "train a router on a run with this one"
        )
