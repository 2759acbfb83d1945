"""bge-m3 (Chen et al., 2024) through FlagEmbedding: dense, lexical and token vectors of one forward pass."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from arena.config.settings import EmbeddingConfig
from arena.errors import ConfigError, WeightsError
from arena.protocols import SparseVector, Vectors
from indexing.devices import FETCH, dealt, loading, padded, replicas, token_bounded, tokens_read
from indexing.embedding.embedder import Encoded, FolderEncoder, concatenated, require_finite, unit_rows

if TYPE_CHECKING:
    import torch

HEADS = ("sparse_linear.pt", "colbert_linear.pt")

Tokens = NDArray[np.int64]


class BgeM3Encoder(FolderEncoder):
    """An `Encoder` over the model and tokenizer of FlagEmbedding's `BGEM3FlagModel`.

    Its `encode` runs the first batch of a call twice to try out the memory, draws bars, and starts processes for
    several devices; so batches are made here and the model is called once for each. Lexical weights are on the
    tokenizer's ids, the largest of a token's occurrences, special tokens left out. Half precision is the
    default on a GPU, single precision on the CPU.
    """

    token_vectors = "all tokens but the first"

    def __init__(self, folder: Path, settings: EmbeddingConfig, *, name: str | None = None) -> None:
        """`name` is the model's in its identity, the folder's where None.

        Raises `WeightsError` when the folder holds no loadable bge-m3, `ConfigError` when a setting does not fit it.
        """
        wrong = [name for name in ("pooling", "normalize", "distance") if getattr(settings, name) is not None]
        if wrong:
            raise ConfigError(f"embedding setting {wrong[0]} does not fit bge-m3, which has its own: leave it out")
        super().__init__(folder, settings, name, half_on_gpu=True)
        self._query = settings.query_instruction or ""
        self._passage = settings.passage_instruction or ""
        flag_model = _load(folder, self._dtype, trust_remote_code=settings.trust_remote_code)
        self._flag_model = flag_model  # kept: when it goes, its finaliser moves the model to the CPU
        self._tokenizer = flag_model.tokenizer
        self._special = np.array(sorted(self._tokenizer.all_special_ids), dtype=np.int64)
        self._max_length = tokens_read(flag_model.model.config, settings.max_length)
        self._dimension = int(flag_model.model.config.hidden_size)
        self._replicas = replicas(flag_model.model, self._devices)
        self.queries([""])  # a broken model shows here, and the first query timed is not the one that warms it up

    def passages(self, texts: Sequence[str]) -> Encoded:
        return self._encode(self._passage, texts, self._replicas)

    def _encode_queries(self, texts: Sequence[str]) -> Encoded:
        return self._encode(self._query, texts, self._replicas[:1])

    def _passage_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(ids) for ids in self._tokens(self._passage, texts, truncation=False)]

    def _encode(self, instruction: str, texts: Sequence[str], models: Sequence[torch.nn.Module]) -> Encoded:
        if not texts:
            return Encoded(np.empty((0, self._dimension), np.float32), (), () if self._multivectors else None)
        parts, places = dealt(models, self._tokens(instruction, texts), len, self._share, section="embedding")
        return require_finite(concatenated(parts).rows(places), texts, self.identity)

    def _tokens(self, instruction: str, texts: Sequence[str], *, truncation: bool = True) -> list[list[int]]:
        encoded = self._tokenizer(
            [instruction + text for text in texts],
            truncation=truncation,
            max_length=self._max_length if truncation else None,
            return_attention_mask=False,
            verbose=False,
        )
        ids: list[list[int]] = encoded["input_ids"]
        return ids

    def _share(self, model: torch.nn.Module, tokens: list[list[int]]) -> Encoded:
        """One device's part, longest text first."""
        return concatenated([self._forward(model, batch) for batch in token_bounded(tokens, len, self._batch_size)])

    def _forward(self, model: torch.nn.Module, batch: list[list[int]]) -> Encoded:
        import torch

        lengths = [len(ids) for ids in batch]
        ids, mask = padded(batch, self._tokenizer.pad_token_id)
        device = next(model.parameters()).device
        inputs = {
            "input_ids": torch.from_numpy(ids).to(device),
            "attention_mask": torch.from_numpy(mask).to(device),
        }
        with torch.inference_mode():
            outputs = model(inputs, return_dense=True, return_sparse=True, return_colbert_vecs=self._multivectors)
        weights = _float32(outputs["sparse_vecs"])[:, :, 0]
        lexical = [self._lexical(ids[row, :length], weights[row, :length]) for row, length in enumerate(lengths)]
        multi = None
        if self._multivectors:
            matrices = _float32(outputs["colbert_vecs"])  # without the first token
            multi = tuple(unit_rows(matrices[row, : length - 1]) for row, length in enumerate(lengths))
        return Encoded(unit_rows(_float32(outputs["dense_vecs"])), tuple(lexical), multi)

    def _lexical(self, ids: Tokens, weights: Vectors) -> SparseVector:
        kept = ~np.isin(ids, self._special) & ~(weights <= 0)  # a weight that is no number is kept, to be refused
        ids, weights = ids[kept], weights[kept]
        order = np.lexsort((weights, ids))
        ids, weights = ids[order], weights[order]
        largest = np.flatnonzero(np.diff(ids, append=-1))  # the last of each run of one id
        return SparseVector(tuple(ids[largest].tolist()), tuple(weights[largest].tolist()))


def is_bge_m3(folder: Path) -> bool:
    """Whether the model in `folder` has bge-m3's two heads."""
    return all((folder / head).is_file() for head in HEADS)


def _load(folder: Path, dtype: str, *, trust_remote_code: bool) -> Any:
    if not is_bge_m3(folder):
        raise WeightsError(f"no bge-m3 in {str(folder)!r}: it lacks {' or '.join(HEADS)}; {FETCH}")
    from FlagEmbedding import BGEM3FlagModel

    with loading("bge-m3", folder):
        return BGEM3FlagModel(
            str(folder),
            use_fp16=dtype == "float16",
            use_bf16=dtype == "bfloat16",
            devices="cpu",
            local_files_only=True,
            trust_remote_code=trust_remote_code,
        )


def _float32(tensor: torch.Tensor) -> Vectors:
    array: Vectors = tensor.float().cpu().numpy()
    return array
