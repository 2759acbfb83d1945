"""How the argument of a spec becomes a dataset: a path, the hub, or numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from arena.datasets.hub import HubFile, fetch
from arena.errors import DatasetError
from arena.types import Dataset

Build = Callable[[str | None], Dataset]
FROM_HUB = "hub"


def from_path(name: str, load: Callable[[Path], Dataset], placeholder: str) -> Build:
    """Load from the path that is the argument; without one, ask for it."""

    def build(argument: str | None) -> Dataset:
        if argument is None:
            raise DatasetError(f"dataset {name!r} needs a path: write {name}:{placeholder}")
        return load(Path(argument).expanduser())

    return build


def from_path_or_hub(name: str, load: Callable[[Path], Dataset], file: HubFile, n_questions: int) -> Build:
    """Load from the path that is the argument; without one, or for `hub`, from the pinned `file` of the hub.

    The hub's file must hold `n_questions`.
    """

    def build(argument: str | None) -> Dataset:
        if argument is None or argument == FROM_HUB:
            return load_from_hub(name, load, file, n_questions, hub_cache())
        return load(Path(argument).expanduser())

    return build


def load_from_hub(
    name: str,
    load: Callable[[Path], Dataset],
    file: HubFile,
    n_questions: int,
    root: Path,
    *,
    endpoint: str | None = None,
) -> Dataset:
    """The dataset `name` in `file`, kept under `root`; a note says what was read. `endpoint` is as for `fetch`.

    Raises:
        DatasetError: the file cannot be had or is malformed, or does not hold `n_questions`.
    """
    by_hand = (
        f"Without a network, place {Path(file.path).name} by hand ({file.page}, or the authors' own) and write "
        f"--dataset {name}:{Path(file.path).name}"
    )
    path = fetch(file, root, by_hand, endpoint=endpoint)
    loaded = load(path)
    if len(loaded.questions) != n_questions:
        raise DatasetError(
            f"{path} holds {len(loaded.questions):,} questions, not {n_questions:,} ({file.vouched}); delete it. "
            f"{by_hand}"
        )
    return Dataset(
        name,
        loaded.documents,
        loaded.questions,
        loaded.gold,
        loaded.fingerprint,
        (f"{file.note} It is {file.vouched}.", *loaded.notes),
    )


def build_ragrouter(argument: str | None) -> Dataset:
    """See `load_ragrouter`."""
    from arena.datasets.ragrouter import load_ragrouter

    return load_ragrouter(argument, hub_cache())


def build_world(argument: str | None) -> Dataset:
    """The bundled world, or one of `DOCUMENTS:SEED`."""
    from arena.datasets.world import BUNDLED, make_world  # its word tables only when asked for

    if argument is None:
        return make_world(BUNDLED.documents, BUNDLED.questions, BUNDLED.seed)
    try:
        documents, seed = (int(number) for number in argument.split(":"))
    except ValueError:
        raise DatasetError(f"world:{argument}: expected two whole numbers, as in world:1000:7") from None
    return make_world(documents, max(1, documents // 4), seed)


def hub_cache() -> Path:
    """Where files of the hub are kept."""
    from arena.config import cache_folder

    return cache_folder("datasets")
