"""router.json: what a trained router is, for whom, and from what. It names the weights beside it by their hash."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from arena.errors import WeightsError
from arena.json_reading import read_json

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
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise WeightsError(f"{str(place)!r} describes no router: {where}: {first['msg']}; {_HOW}") from None


def router_text(content: RouterFile) -> str:
    """The file's text, the same for the same content."""
    return json.dumps(content.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"


def query_identity(embedder: Mapping[str, str | int]) -> dict[str, str | int]:
    """The part of an embedder's identity that a question's dense vector depends on."""
    return {name: value for name, value in embedder.items() if name not in _NOT_OF_A_QUERY}
