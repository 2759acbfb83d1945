"""Open a trained router from its folder.

router.json says what it is, for whom, and from what it was trained. It names the weights beside it by their hash.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from arena.config.settings import RerankConfig
from arena.errors import ConfigError, WeightsError, content_problems
from arena.files import file_sha256, read_json
from arena.identity import canonical_json
from arena.protocols import Embedder, Router
from arena.types import Tier
from indexing.devices import folder_identity
from indexing.late import Late, LateModels, ModelFacts
from indexing.routing.routers import MODEL, WEIGHTS, LightRouter, T5Router, read_light

NAME = "router.json"
SCHEMA_VERSION: Literal[1] = 1

RouterKind = Literal["light", "t5"]

CALLED: Mapping[RouterKind, str] = {
    "light": "embedding + logistic regression",
    "t5": "T5 as in the paper, trained on this reader's outcomes: T2-local",
}
"""What a router of each kind is called wherever people read of it."""

_HOW = "make one with `arena train-router RUN --out FOLDER`"
_NOT_OF_A_QUERY = frozenset({"sparse", "multivectors", "passage_instruction"})


class RouterFile(BaseModel):
    """The content of router.json.

    `reader`: the model, as cells name it, whose outcomes it learned; `reader_sha256`: of its weights, where it is a
    file. `embedder`: what can change a question's vector (None: it reads no vectors). `run`: id, fingerprint and start
    of the run it was trained on. `training`: how many questions, their ids' hash, labels, seed. `metrics`: how well it
    did on questions it had not seen.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[1] = SCHEMA_VERSION
    kind: RouterKind
    called: str
    labels: tuple[str, ...] = Field(min_length=2)
    reader: str
    reader_sha256: str | None = None
    embedder: Mapping[str, str | int] | None = None
    weights_sha256: str
    run: Mapping[str, Any] = Field(default_factory=dict)
    training: Mapping[str, Any] = Field(default_factory=dict)
    metrics: Mapping[str, Any] = Field(default_factory=dict)

    @field_validator("labels")
    @classmethod
    def _distinct(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(value)) < len(value):
            raise ValueError("a label is there twice")
        return value


def read_router_file(folder: Path) -> RouterFile:
    """What router.json in `folder` says.

    Raises:
        WeightsError: it is not there, or is none.
    """
    place = folder / NAME
    try:
        content = read_json(place)
    except OSError as error:
        raise WeightsError(f"no trained router in {str(folder)!r} ({error.strerror}: {NAME}): {_HOW}") from None
    except ValueError as error:
        raise WeightsError(f"{str(place)!r} is no JSON ({error}): {_HOW}") from None
    try:
        return RouterFile.model_validate(content)
    except ValidationError as error:
        problem = content_problems(error, "the file", most=1)
        raise WeightsError(f"{str(place)!r} describes no router: {problem}; {_HOW}") from None


def router_text(content: RouterFile) -> str:
    """The file's text, the same for the same content."""
    return json.dumps(content.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"


def query_identity(embedder: Mapping[str, str | int]) -> dict[str, str | int]:
    """The part of an embedder's identity that a question's dense vector depends on."""
    return {name: value for name, value in embedder.items() if name not in _NOT_OF_A_QUERY}


def open_router(
    folder: Path,
    embedder: Embedder,
    models: threading.Lock | None = None,
    *,
    devices: tuple[str, ...] | None = None,
    late: LateModels | None = None,
) -> Router:
    """The router in `folder`, checked against its own description.

    Args:
        folder: as `arena train-router` wrote it.
        embedder: that of the run, which a light router asks.
        models: held while the embedder works; see `LightRouter`.
        devices: where a T5 runs.
        late: a T5 is opened as one of these (None: now).

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
        opening = partial(T5Router, folder / MODEL, said.labels, identity, devices=devices)
        if late is None:
            return opening()
        of = canonical_json([said.labels, identity])
        return late.add(LateRouter, opening, folder / MODEL, RerankConfig(devices=devices), "T5Router", of)
    _check_embedder(folder, said, embedder.identity)
    weights = read_light(folder, len(said.labels), embedder.dimension)
    return LightRouter(weights, said.labels, identity, embedder, models)


class LateRouter(Late[Router, ModelFacts]):
    """A T5 as a `Router`, opened by the first question."""

    _kind = ModelFacts
    tier: Tier = "T2"

    def probabilities(self, question: str) -> Mapping[str, float]:
        return self.open().probabilities(question)


def weights_sha256(folder: Path, kind: RouterKind) -> str:
    """Of all that changes a probability.

    Raises:
        WeightsError: nothing is there.
    """
    if kind == "light":
        try:
            return file_sha256(folder / WEIGHTS)
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
