"""Weights on disk: fetched from the first source that has the right bytes, verified, placed in one step."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from filelock import FileLock

from arena.config.settings import EmbeddingConfig, RerankConfig
from arena.errors import ConfigError, UnknownNameError, WeightsError, storage_advice
from arena.files import replacing
from indexing.files import Progress, silent, stamp, stamped_sha256
from indexing.hub import fetch_repository, is_hub_name, repository_commit
from indexing.sources import (
    SOURCES,
    SourceError,
    WeightFile,
    Weights,
    WeightSource,
    WrongFileError,
    known_weights,
)

BLOCK_BYTES = 1 << 20
DOWNLOADS = ".downloads"


@dataclass(frozen=True, slots=True)
class ListedModel:
    """One of the known weights and where it lies; `path` is None when it is not (completely) there."""

    model: Weights
    path: Path | None


def fetch(
    name: str,
    root: Path,
    progress: Progress = silent,
    *,
    sources: Sequence[WeightSource] = SOURCES,
    known: Mapping[str, Weights] | None = None,
) -> Path:
    """The weights' path under `root`, downloaded first when they are not there: a folder, or the file if only one.

    Every file is checked against its pinned hash before it gets its name; a file once checked is not read again
    while its size and modification time stay. Raises `UnknownNameError`, or `WeightsError` saying what each source
    answered and how to place the files by hand. Of several processes one downloads and the others wait for it.
    """
    known = known_weights() if known is None else known
    if name not in known:
        raise UnknownNameError("model weights", name, known)
    weights = known[name]
    folder = root / name
    try:
        if _missing(weights, folder):
            with _only_fetcher(root / DOWNLOADS, name):
                if _missing(weights, folder):  # whoever held the lock may have brought them
                    _bring(weights, folder, root / DOWNLOADS / name, sources, progress)
    except OSError as error:
        raise WeightsError(
            f"cannot store the weights {name!r} in {str(folder)!r}: {error}; {storage_advice(error)}"
        ) from error
    return _entry(weights, folder)


def locate(
    settings: EmbeddingConfig | RerankConfig,
    section: str,
    named: Mapping[str, str],
    root: Path,
    progress: Progress = silent,
    *,
    others: Sequence[str] = (),
) -> tuple[Path, str]:
    """The folder of the model that `settings` name, and the name it goes by in identities: nothing of this machine.

    `section` of the config that they are. `named`: name -> the pinned weights it means; a folder may have such a name
    only with a path. `others`: what else `model` may be, for messages. Raises as `fetch` and `fetch_repository` do, and
    `ConfigError` for a revision of what is not on the hub.
    """
    model, revision = settings.model, settings.revision
    folder = Path(model).expanduser()
    if revision is not None and (model in named or folder.is_dir()):
        raise ConfigError(f"{section} setting revision {revision!r} needs a model of the hub, not {model!r}")
    if model in named:
        return fetch(named[model], root, progress), named[model]
    if folder.is_dir():
        return folder, folder.resolve().name
    if is_hub_name(model):
        folder = fetch_repository(model, revision, root, progress)
        return folder, f"{model}@{repository_commit(folder)}"
    options = (*others, *named, "ORG/NAME of the hub", "a folder")
    if "/" in model or "\\" in model:
        raise WeightsError(f"no folder {model!r}: {section}.model is one of {', '.join(options)}")
    raise UnknownNameError(f"{section} model", model, options)


def list_models(root: Path, known: Mapping[str, Weights] | None = None) -> list[ListedModel]:
    """All known weights and where they lie under `root`; sizes are compared, hashes are left to `fetch`."""
    return [
        ListedModel(model, _entry(model, root / model.name) if _complete(model, root / model.name) else None)
        for model in (known_weights() if known is None else known).values()
    ]


@contextmanager
def _only_fetcher(downloads: Path, name: str) -> Iterator[None]:
    """Wait to be the only one that downloads `name`: two would append to the same partial files."""
    downloads.mkdir(parents=True, exist_ok=True)
    with FileLock(downloads / f"{name}.lock"):
        yield


def _entry(weights: Weights, folder: Path) -> Path:
    return folder / weights.files[0].path if len(weights.files) == 1 else folder


def _complete(weights: Weights, folder: Path) -> bool:
    places = [(folder / file.path, file.size_bytes) for file in weights.files]
    return all(place.is_file() and place.stat().st_size == size for place, size in places)


def _bring(weights: Weights, folder: Path, scratch: Path, sources: Iterable[WeightSource], progress: Progress) -> None:
    refusals = []
    for number, source in enumerate(sources):
        place = scratch / str(number)  # partial files of different sources must not meet
        missing = _missing(weights, folder)
        try:
            with source.open(weights, missing, place, progress) as opener:
                for file in missing:
                    with opener(file) as stream:
                        _place(stream, file, folder)
        except SourceError as error:
            refusals.append(f"{source.name}: {error}")
            if isinstance(error, WrongFileError):
                shutil.rmtree(place, ignore_errors=True)
        else:
            shutil.rmtree(scratch, ignore_errors=True)
            return
    raise WeightsError(_by_hand(weights, _missing(weights, folder), folder, refusals))


def _place(stream: IO[bytes], file: WeightFile, folder: Path) -> None:
    """Copy a stream to its place, hashing on the way; nothing is left there when the hash is wrong."""
    target = folder / file.path
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with replacing(target, shared=True) as copy:
        with copy.open("wb") as out:
            while block := stream.read(BLOCK_BYTES):
                digest.update(block)
                out.write(block)
        if digest.hexdigest() != file.sha256:
            raise WrongFileError(f"{file.path} has SHA-256 {digest.hexdigest()}, pinned is {file.sha256}: refused")
    stamp(folder, file.path, file.sha256)


def _missing(weights: Weights, folder: Path) -> list[WeightFile]:
    return [file for file in weights.files if not _verified(folder, file)]


def _verified(folder: Path, file: WeightFile) -> bool:
    place = folder / file.path
    if not place.is_file() or place.stat().st_size != file.size_bytes:
        return False
    right = stamped_sha256(folder, file.path) == file.sha256
    if right:
        stamp(folder, file.path, file.sha256)
    return right


def _by_hand(weights: Weights, missing: Sequence[WeightFile], folder: Path, refusals: Sequence[str]) -> str:
    answers = "".join(f"\n  {refusal}" for refusal in refusals)
    files = "".join(f"\n  {folder / file.path}  SHA-256 {file.sha256}" for file in missing)
    return (
        f"cannot get the weights {weights.name!r}:{answers}\n"
        f"With a network, run `arena models fetch {weights.name}`. Without one, place by hand "
        f"(from {weights.source}):{files}"
    )
