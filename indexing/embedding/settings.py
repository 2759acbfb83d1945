"""How texts are embedded: what a run's configuration says about it."""

from __future__ import annotations

from dataclasses import dataclass

from arena.errors import ConfigError

DTYPES = ("float32", "float16", "bfloat16")


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """Everything that may be chosen about an embedding model; None is the model's own or the machine's best.

    `model`: `minilm` (= `all-minilm-l6-v2`), `bge-m3`, a folder, or ORG/NAME on the hub; `revision` is a branch, tag or
    commit there. `max_length`: tokens read of a text. `batch_size`: texts in one forward pass on one device.
    `devices`: as torch names them, one copy of the model on each; None = all GPUs, else the CPU. Instructions are put
    before every text of their kind; "" is none. `multivectors`: keep a vector a token, for late interaction.
    `trust_remote_code`: the model may run code that lies beside its weights, or be pickled.
    Raises `ConfigError` on values out of range.
    """

    model: str = "minilm"
    max_length: int | None = None
    batch_size: int | None = None
    dtype: str | None = None
    devices: tuple[str, ...] | None = None
    query_instruction: str | None = None
    passage_instruction: str | None = None
    multivectors: bool = False
    revision: str | None = None
    trust_remote_code: bool = False

    def __post_init__(self) -> None:
        for name in ("max_length", "batch_size"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"embedding setting {name} must be at least 1, not {value!r}")
        if self.dtype is not None and self.dtype not in DTYPES:
            raise ConfigError(f"embedding setting dtype is one of {', '.join(DTYPES)}, not {self.dtype!r}")
        if self.devices is not None and not self.devices:
            raise ConfigError("embedding setting devices is empty: name at least one, or leave it out")
