"""Models that are opened when they are first asked.

What a model is, and that it can be opened, is known from when it was open before: that is in a note, a file whose name
holds all that decides it. Nothing is read off a model's configuration by rules of our own, which would be a second and
inexact copy of the libraries' rules.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from arena.config.settings import EmbeddingConfig, RerankConfig
from arena.errors import WeightsError
from arena.files import read_json, write_whole
from arena.identity import canonical_json, short_hash
from indexing.devices import chosen_devices, device_kind, folder_identity

_LIBRARIES = ("torch", "transformers", "sentence-transformers", "FlagEmbedding")


class ModelFacts(BaseModel):
    """What a model said of itself when it was open, read off its properties."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, from_attributes=True)

    identity: dict[str, str | int]


Model = TypeVar("Model")
Known = TypeVar("Known", bound=ModelFacts)


class Late(Generic[Model, Known]):
    """A model that is opened when it is first asked. Before, it is what it was when last opened.

    Where no note of that is to be had, it is opened at once.
    """

    _kind: type[Known]

    def __init__(self, opening: Callable[[], Model], note: Path) -> None:
        """`opening` opens the model; `note` is its file. Raises as `opening` does."""
        self._opening, self._note = opening, note
        self._model: Model | None = None
        self._turn = Lock()
        try:
            self._facts = self._kind.model_validate(read_json(note))
        except (OSError, ValueError):
            self._facts = self._learnt()

    @property
    def identity(self) -> dict[str, str | int]:
        return self._facts.identity

    def open(self) -> Model:
        """The model, opened if it was not yet. Raises `WeightsError` where it is not what it is known as."""
        with self._turn:
            if self._model is None and (found := self._learnt()).identity != self.identity:
                self._note.unlink(missing_ok=True)
                raise WeightsError(
                    f"the model is {found.identity!r}, and was {self.identity!r} when it was opened last: run again"
                )
            assert self._model is not None
            return self._model

    def _learnt(self) -> Known:
        self._model = self._opening()
        facts = self._kind.model_validate(self._model)
        self._keep(facts)
        return facts

    def _keep(self, facts: Known) -> None:
        with suppress(OSError):  # without a note the model is opened at once the next time
            self._note.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._note, json.dumps(facts.model_dump()), shared=True)


Added = TypeVar("Added", bound=Late[Any, Any])


class LateModels:
    """The models of a run that read more than single texts, each opened when it is first asked, or all by `open`."""

    def __init__(self, notes: Path) -> None:
        """`notes`: the folder where it is kept what they are."""
        self._notes = notes
        self._made: list[Late[Any, Any]] = []

    def add(
        self,
        late: Callable[[Callable[[], Model], Path], Added],
        opening: Callable[[], Model],
        folder: Path,
        settings: EmbeddingConfig | RerankConfig,
        *of: str,
    ) -> Added:
        """The model of `folder` as a `late` one, to be opened with the others. Further arguments as of `note_of`."""
        one = late(opening, note_of(self._notes, folder, settings, *of))
        if names_gpu(settings):
            one.open()
        self._made.append(one)
        return one

    def open(self) -> None:
        """Open them all: what is wrong with one shows before the first question, and no question waits for it."""
        for one in self._made:
            one.open()


def names_gpu(settings: EmbeddingConfig | RerankConfig) -> bool:
    """Whether a device is set that only the library can tell whether it is there."""
    return any(device_kind(device) != "cpu" for device in settings.devices or ())


def note_of(notes: Path, folder: Path, settings: EmbeddingConfig | RerankConfig, *of: str) -> Path:
    """The file for a model, named by all that its facts follow from: files, settings, devices, libraries and our code.

    `of`: what else does, such as its class and the name it goes by. Raises as `folder_identity` does.
    """
    sources = sorted(Path(__file__).parent.rglob("*.py"))
    decisive: dict[str, Any] = {
        "of": of,
        "files": folder_identity(folder, trust_remote_code=settings.trust_remote_code),
        "settings": settings.model_dump(mode="json", exclude={"model", "threshold"}),  # a path says nothing
        "devices": chosen_devices(settings.devices),
        "libraries": {library: _version(library) for library in _LIBRARIES},
        "code": [hashlib.sha256(source.read_bytes()).hexdigest() for source in sources],
    }
    return notes / f"{short_hash(canonical_json(decisive, ascii_only=True))}.json"


def _version(library: str) -> str | None:
    with suppress(PackageNotFoundError):
        return version(library)
    return None
