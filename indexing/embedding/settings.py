"""How texts are embedded: what a run's configuration says about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from arena.errors import ConfigError

POOLINGS = ("mean", "cls")
DISTANCES = ("cosine", "dot")
DTYPES = ("float32", "float16", "bfloat16")


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """Everything that may be chosen about an embedding model; None is the model's own or the machine's best.

    `model`: `minilm` (= `all-minilm-l6-v2`), `bge-m3`, a folder, or ORG/NAME on the hub; `revision` is a branch, tag or
    commit there. `max_length`: tokens read of a text. `batch_size`: texts in one forward pass on one device.
    `devices`: as torch names them, one copy of the model on each; None = all GPUs, else the CPU. Instructions are put
    before every text of their kind; "" is none. `multivectors`: keep a vector a token, for late interaction.
    `trust_remote_code`: the model may run code that lies beside its weights, or be pickled. `pooling`: how token
    vectors become one, `mean` or `cls`. `normalize`: scale vectors to L2 = 1 (the default). `distance`: `cosine` (the
    default) or `dot`, the inner product of vectors as they are.
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
    pooling: str | None = None
    normalize: bool | None = None
    distance: str | None = None

    def __post_init__(self) -> None:
        for name in ("max_length", "batch_size"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"embedding setting {name} must be at least 1, not {value!r}")
        if self.dtype is not None and self.dtype not in DTYPES:
            raise ConfigError(f"embedding setting dtype is one of {', '.join(DTYPES)}, not {self.dtype!r}")
        for name, known in (("pooling", POOLINGS), ("distance", DISTANCES)):
            if getattr(self, name) not in (None, *known):
                raise ConfigError(f"embedding setting {name} is one of {', '.join(known)}, not {getattr(self, name)!r}")
        if self.devices is not None and not self.devices:
            raise ConfigError("embedding setting devices is empty: name at least one, or leave it out")


@dataclass(frozen=True, slots=True)
class Preset:
    """How a model was trained to be used, where its folder does not say so. None = as any other."""

    pooling: str | None = None
    normalize: bool | None = None
    distance: str | None = None
    query_instruction: str | None = None
    passage_instruction: str | None = None


_CONTRIEVER = Preset(pooling="mean", normalize=False, distance="dot")
_E5 = Preset(pooling="mean", query_instruction="query: ", passage_instruction="passage: ")
_BGE = Preset(pooling="cls", query_instruction="Represent this sentence for searching relevant passages: ")
_SIZES = ("small", "base", "large")
PRESETS: Mapping[str, Preset] = {
    "contriever": _CONTRIEVER,
    "contriever-msmarco": _CONTRIEVER,
    **{f"e5-{size}{version}": _E5 for size in _SIZES for version in ("", "-v2")},
    **{f"multilingual-e5-{size}": _E5 for size in _SIZES},
    **{f"bge-{size}-en{version}": _BGE for size in _SIZES for version in ("", "-v1.5")},
}
"""Model, without its owner, -> what its authors say of it: Izacard et al., 2022 (inner product of mean vectors); Wang
et al., 2022 (prefixes); Xiao et al., 2023 (first token, instruction before queries)."""


def with_preset(settings: EmbeddingSettings, name: str) -> EmbeddingSettings:
    """The settings; what they leave open is as the preset of model `name` (ORG/NAME@COMMIT, a folder's name) has it."""
    preset = PRESETS.get(name.rpartition("/")[2].partition("@")[0].lower(), Preset())
    return replace(
        settings,
        **{
            one.name: getattr(preset, one.name)
            for one in fields(Preset)
            if getattr(settings, one.name) is None and getattr(preset, one.name) is not None
        },
    )
