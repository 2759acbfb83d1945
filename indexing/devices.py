"""Run a model on its devices in bounded batches, and identify it by the files of its folder.

There is one copy on each device, and texts are dealt out among them by threads, not processes: kernels run outside the
interpreter's lock, nothing has to be pickled, and no process can leak. A batch is bounded in padded tokens of a forward
pass and in texts of a call to the tokenizer.

The identity holds hashes of the weights and of everything else that can change a vector. A folder of weights comes from
anybody, so that it may bring numbers and settings only. Code of its own and pickled weights, which can run code when
they are read, are refused, unless the user trusts the folder by name.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import deepcopy
from glob import glob
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from arena.config.settings import EmbeddingConfig, RerankConfig
from arena.errors import ConfigError, WeightsError
from indexing.files import stamped_sha256
from indexing.sources import known_weights

if TYPE_CHECKING:
    import torch

Module = TypeVar("Module", bound="torch.nn.Module")
Item = TypeVar("Item")
Part = TypeVar("Part")

_GPU_FILES = ("/dev/nvidia*", "/dev/nvhost*", "/dev/nvmap", "/dev/dxg", "/dev/kfd")
"""What drivers of GPUs leave on Linux: NVIDIA's, also on boards and under Windows, and AMD's."""

CPU_BATCH_SIZE = 32
GPU_BATCH_SIZE = 256


def chosen_devices(devices: Sequence[str] | None) -> tuple[str, ...]:
    """The wanted devices; None takes every CUDA GPU, else Apple's, else the CPU with all its cores."""
    if devices is not None:
        return tuple(devices)
    if "torch" not in sys.modules and lacks_gpus():
        return ("cpu",)  # torch takes seconds to import
    import torch

    if torch.cuda.is_available():
        return tuple(f"cuda:{number}" for number in range(torch.cuda.device_count()))
    return ("mps",) if torch.backends.mps.is_available() else ("cpu",)


def lacks_gpus() -> bool:
    """Whether no driver of a GPU is loaded, so that torch would find none; False where only torch can tell."""
    return sys.platform == "linux" and not any(map(glob, _GPU_FILES))


def default_batch_size(devices: Sequence[str]) -> int:
    """Texts in one forward pass where the settings do not say."""
    return CPU_BATCH_SIZE if device_kind(devices[0]) == "cpu" else GPU_BATCH_SIZE


def device_kind(device: str) -> str:
    """The kind of a device as torch names it: `cpu` of `cpu:0`, `cuda`, `mps`."""
    return device.partition(":")[0]


def precision_identity(dtype: str, devices: Sequence[str]) -> dict[str, str]:
    """What the numbers of a pass depend on beside the model: `dtype`, and below float32 the `device` kinds.

    In half precision kernels of one kind of device and another differ by more than batches do.
    """
    kinds = ",".join(sorted({device_kind(device) for device in devices}))
    return {"dtype": dtype} if dtype == "float32" else {"dtype": dtype, "device": kinds}


def replicas(model: Module, devices: Sequence[str]) -> list[Module]:
    """One copy of `model` for each device, placed there, in evaluation mode.

    Raises `ConfigError` naming a device that does not exist or has no room.
    """
    copies = [model, *(deepcopy(model) for _ in devices[1:])]
    for device, copy in zip(devices, copies, strict=True):
        try:
            copy.to(device)
        except (RuntimeError, AssertionError) as error:
            raise ConfigError(
                f"cannot put the embedding model on device {device!r}: {_first_line(error)}; "
                "name another device, such as 'cpu' or 'cuda:0'"
            ) from error
        copy.eval()
    return copies


class FolderModel:
    """What all have that run the model of a folder: its hashes and name, and how its settings let it run."""

    def __init__(
        self, folder: Path, settings: EmbeddingConfig | RerankConfig, name: str | None, *, half_on_gpu: bool = False
    ) -> None:
        """`name` is the model's in its identity, the folder's where None. Single precision, or half, unless set.

        Raises as `folder_identity` does.
        """
        self._hashes = folder_identity(folder, trust_remote_code=settings.trust_remote_code)
        self._name = name or folder.name
        self._devices = chosen_devices(settings.devices)
        self._batch_size = settings.batch_size or default_batch_size(self._devices)
        half = half_on_gpu and device_kind(self._devices[0]) != "cpu"
        self._dtype = settings.dtype or ("float16" if half else "float32")


def dealt(
    models: Sequence[Module],
    items: Sequence[Item],
    length: Callable[[Item], int],
    work: Callable[[Module, list[Item]], Part],
    *,
    section: str,
) -> tuple[list[Part], list[int]]:
    """What `work` makes of the share of each model, and for each item its place in these parts, one after the other.

    Shares are equal, and longest items come first. `section` of the settings: whose the model is. Raises `ConfigError`
    when a batch does not fit into a device's memory.
    """
    import torch

    order = sorted(range(len(items)), key=lambda place: (-length(items[place]), place))
    shares = [share for share in (order[first :: len(models)] for first in range(len(models))) if share]
    jobs = list(zip(models, ([items[place] for place in share] for share in shares), strict=False))
    try:
        if len(jobs) <= 1:
            parts = [work(*job) for job in jobs]
        else:
            with ThreadPoolExecutor(len(jobs), thread_name_prefix=section) as pool:
                parts = list(pool.map(lambda job: work(*job), jobs))
    except torch.OutOfMemoryError as error:
        raise ConfigError(
            f"a batch does not fit into the device's memory ({_first_line(error)}): "
            f"lower {section}.batch_size or {section}.max_length"
        ) from error
    places = [0] * len(items)
    for found, place in enumerate(chain.from_iterable(shares)):
        places[place] = found
    return parts, places


def padded(rows: Sequence[Sequence[int]], padding: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Token ids and attention mask, (rows, width of the longest)."""
    lengths = np.array([len(ids) for ids in rows])
    table = np.full((len(rows), lengths.max()), padding, dtype=np.int64)
    for row, ids in zip(table, rows, strict=True):
        row[: len(ids)] = ids
    return table, (np.arange(table.shape[1]) < lengths[:, None]).astype(np.int64)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]


_SETTINGS = {".json", ".txt", ".model"}
_WEIGHTS = {".safetensors", ".bin", ".pt"}
_ROBERTA_FAMILY = {"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "longformer"}
_UNBOUNDED = 8192  # where neither the model nor the user says
_OTHER_FORMATS = {"onnx", "openvino", "imgs", "assets"}
FETCH = "`arena models fetch` brings the models known by name"
_READ_AS_TENSORS = {"sparse_linear.pt", "colbert_linear.pt"}
"""bge-m3's heads exist in no other format; FlagEmbedding reads them with torch's `weights_only`, which runs no code."""
_IMPORTED_FROM = {
    "auto_map": None,
    "type": "sentence_transformers.",
    "types": "sentence_transformers.",
    "activation_fn": "torch.",
    "activation_function": "torch.",
    "sbert_ce_default_activation_function": "torch.",
}
"""Settings that name classes to import, and the library these have to come from (None = from the folder itself)."""
_SETTINGS_BYTES = 1_000_000


def folder_identity(folder: Path, *, trust_remote_code: bool = False) -> dict[str, str | int]:
    """`weights_sha256` and `config_sha256` of the model in `folder`; asked for before anything opens it.

    A single file of weights has its own SHA-256; of several files, the hash is that of the sorted list of paths and
    hashes. Weights that exist in both formats count as safetensors, which is what is loaded. `trust_remote_code`: the
    folder's own code may run, and its `code_sha256` is part of the identity.

    Raises:
        WeightsError: there are no weights, they cannot be read, or they would run code that is not trusted.
    """
    try:
        paths = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
        kept = [path for path in paths if not any(part.startswith(".") for part in path.parts)]
        files = sorted(path for path in kept if not _OTHER_FORMATS & set(path.parts))
        safe = {path.parent for path in files if path.suffix == ".safetensors"}
        weights = [p for p in files if p.suffix in _WEIGHTS and not (p.suffix == ".bin" and p.parent in safe)]
        if not weights:
            raise WeightsError(f"no model weights in {str(folder)!r}; {FETCH}")
        settings = [path for path in files if path.suffix in _SETTINGS]
        code = [path for path in files if path.suffix == ".py"]
        if not trust_remote_code:
            _refuse_code(folder, settings)
            _refuse_pickles(folder, weights)
        return {
            "weights_sha256": _digest(folder, weights),
            "config_sha256": _digest(folder, settings),
            **({"code_sha256": _digest(folder, code)} if trust_remote_code and code else {}),
        }
    except OSError as error:
        raise WeightsError(f"cannot read the model in {str(folder)!r}: {error}; {FETCH}") from error


def _refuse_code(folder: Path, settings: list[Path]) -> None:
    """Raise `WeightsError` where a setting names a class or a module that is not a library's."""
    for path in settings:
        if path.suffix != ".json" or "tokenizer.json" in path.name or (folder / path).stat().st_size > _SETTINGS_BYTES:
            continue
        try:
            read = json.loads((folder / path).read_bytes())
        except ValueError:
            continue  # the library that loads the model says what is wrong with it
        for named in _named_code(read):
            module = named.rpartition("--")[2].partition(".")[0]
            own = folder / path.parent / f"{module}.py"
            raise WeightsError(
                f"the model in {str(folder)!r} runs code of its own: {path.as_posix()} names {named!r}"
                f"{f', the file {own.name}' if own.is_file() else ''}. Nothing of it was run. Choose a model of the "
                "libraries' own classes or, if you trust whoever made it, set trust_remote_code: true beside the model"
            )


def _named_code(read: Any) -> Iterator[str]:
    """What the settings of a model want to be imported from elsewhere than the libraries."""
    if isinstance(read, list):
        for member in read:
            yield from _named_code(member)
    elif isinstance(read, dict):
        for name, value in read.items():
            if name not in _IMPORTED_FROM:
                yield from _named_code(value)
                continue
            library = _IMPORTED_FROM[name]
            named = (text for text in _texts(value) if "." in text)
            yield from (text for text in named if library is None or not text.startswith(library))


def _texts(value: Any) -> Iterator[str]:
    """The texts in a setting, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _texts(member)


def _refuse_pickles(folder: Path, weights: list[Path]) -> None:
    """Raise `WeightsError` for weights whose format can run code, but for pinned ones and those read as tensors."""
    pinned = {file.sha256 for known in known_weights().values() for file in known.files}
    for path in weights:
        if path.suffix == ".safetensors" or path.name in _READ_AS_TENSORS:
            continue
        if path.suffix == ".bin" and stamped_sha256(folder, path.as_posix()) not in pinned:
            raise WeightsError(
                f"{path.as_posix()} in {str(folder)!r} holds pickled weights, which can run code when they are read: "
                "convert them to safetensors (save_pretrained of transformers writes them) or, if you trust whoever "
                "made them, set trust_remote_code: true beside the model"
            )


def _digest(folder: Path, paths: list[Path]) -> str:
    hashes = {path.as_posix(): stamped_sha256(folder, path.as_posix()) for path in paths}
    if len(hashes) == 1:
        return next(iter(hashes.values()))
    listing = "".join(f"{sha256}  {path}\n" for path, sha256 in hashes.items())
    return hashlib.sha256(listing.encode()).hexdigest()


@contextmanager
def loading(what: str, folder: Path) -> Iterator[None]:
    """Turn what loading a model raises when its files are missing, cut off or of another model into `WeightsError`."""
    from safetensors import SafetensorError

    wrong = (OSError, ValueError, KeyError, RuntimeError, EOFError, pickle.UnpicklingError, SafetensorError)
    try:
        yield
    except wrong as error:
        raise WeightsError(f"no loadable {what} in {str(folder)!r}: {error}; {FETCH}") from error


def tokens_read(config: object, wanted: int | None, usual: int | None = None) -> int:
    """How many tokens of a text a transformer of this configuration is to read.

    As many as wanted, else as usual for the model, else as many as it can. Raises `ConfigError` on more than it can.
    """
    most = _positions(config)
    if wanted is not None and most is not None and wanted > most:
        raise ConfigError(f"embedding setting max_length {wanted!r} is more than the {most} tokens the model can read")
    return wanted or min(limit for limit in (usual, most, _UNBOUNDED) if limit is not None)


def _positions(config: object) -> int | None:
    """Tokens there are positions for; None = no bound. The RoBERTa family counts from one past the padding id."""
    positions = getattr(config, "max_position_embeddings", None)
    if not isinstance(positions, int):
        return None
    offset = (getattr(config, "pad_token_id", None) or 0) + 1
    return positions - offset if getattr(config, "model_type", "") in _ROBERTA_FAMILY else positions


BATCH_TOKENS = 512  # padded tokens a text of the batch size may take: long texts go in smaller batches
TOKENIZED_TEXTS = 1000  # a tokenizer's answer takes kilobytes a text


def token_bounded(items: Sequence[Item], length: Callable[[Item], int], batch_size: int) -> Iterator[list[Item]]:
    """Runs of `items`, longest first, of at most `batch_size` items and `batch_size * BATCH_TOKENS` padded tokens.

    `length` is an item's tokens. An item longer than a whole batch's tokens goes alone.
    """
    start = 0
    while start < len(items):
        longest = max(length(items[start]), 1)
        rows = max(1, min(batch_size, batch_size * BATCH_TOKENS // longest))
        yield list(items[start : start + rows])
        start += rows


def token_counts(count: Callable[[Sequence[str]], Iterable[int]], texts: Sequence[str]) -> Iterator[int]:
    """The tokens of each text by `count`, which is given a bounded number of texts a call."""
    for start in range(0, len(texts), TOKENIZED_TEXTS):
        yield from count(texts[start : start + TOKENIZED_TEXTS])
