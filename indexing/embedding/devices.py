"""Where a model runs: one copy on each device, texts dealt out among them.

Threads, not processes: kernels run outside the interpreter's lock, nothing has to be pickled, and no process can leak.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from arena.errors import ConfigError
from indexing.embedding.encoder import Encoded, concatenated

if TYPE_CHECKING:
    import torch

Module = TypeVar("Module", bound="torch.nn.Module")
Item = TypeVar("Item")

CPU_BATCH_SIZE = 32
GPU_BATCH_SIZE = 256


def chosen_devices(devices: Sequence[str] | None) -> tuple[str, ...]:
    """The wanted devices; None takes every CUDA GPU, else Apple's, else the CPU with all its cores."""
    import torch

    if devices is not None:
        return tuple(devices)
    if torch.cuda.is_available():
        return tuple(f"cuda:{number}" for number in range(torch.cuda.device_count()))
    return ("mps",) if torch.backends.mps.is_available() else ("cpu",)


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


def dealt(
    models: Sequence[Module],
    items: Sequence[Item],
    length: Callable[[Item], int],
    work: Callable[[Module, list[Item]], Encoded],
) -> Encoded:
    """What `work` makes of all items, in their order. Each model gets an equal share, its longest items first.

    Raises `ConfigError` when a batch does not fit into a device's memory.
    """
    import torch

    order = sorted(range(len(items)), key=lambda place: (-length(items[place]), place))
    shares = [share for share in (order[first :: len(models)] for first in range(len(models))) if share]
    jobs = list(zip(models, ([items[place] for place in share] for share in shares), strict=False))
    try:
        if len(jobs) == 1:
            parts = [work(*jobs[0])]
        else:
            with ThreadPoolExecutor(len(jobs), thread_name_prefix="embedding") as pool:
                parts = list(pool.map(lambda job: work(*job), jobs))
    except torch.OutOfMemoryError as error:
        raise ConfigError(
            f"a batch does not fit into the device's memory ({_first_line(error)}): lower batch_size or max_length"
        ) from error
    back = [0] * len(items)
    for found, place in enumerate(chain.from_iterable(shares)):
        back[place] = found
    return concatenated(parts).rows(back)


def provenance(devices: Sequence[str], batch_size: int) -> dict[str, str | int | float]:
    """Device, batch size and library, as recorded with an index."""
    import torch

    threads = {"threads": torch.get_num_threads()} if "cpu" in map(device_kind, devices) else {}
    return {"device": ",".join(devices), "batch_size": batch_size, "torch": torch.__version__, **threads}


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]
