"""bge-reranker-v2-m3 (Chen et al., 2024) through FlagEmbedding's FlagReranker, scores through a sigmoid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from arena.errors import WeightsError
from arena.types import Passage
from indexing.embedding.batches import token_bounded
from indexing.embedding.devices import chosen_devices, default_batch_size, device_kind, replicas
from indexing.embedding.model_folder import FETCH, folder_identity, load_errors
from indexing.rerank.pairs import PASSAGE_TEXT, by_query, pairs_of, score_all, sigmoid
from indexing.rerank.reading import USUAL, tokens_of_pair
from indexing.rerank.settings import RerankSettings

if TYPE_CHECKING:
    import torch

BGE_RERANKER = "bge-reranker-v2-m3"
BGE_THRESHOLD = 0.15
"""From the experiment this arena grew out of, on sigmoid scores of bge-reranker-v2-m3; it means nothing elsewhere."""


class FlagCrossEncoder:
    """A `Reranker` over the model and tokenizer of FlagEmbedding's `FlagReranker`; scores are in [0, 1].

    Its `compute_score` runs the first batch of a call twice to try out the memory, draws bars, and starts processes
    for several devices; so batches are made here, of pairs cut as it cuts them: the query to three quarters of
    `max_length`, then the passage to what is left. Half precision is the default on a GPU, single on the CPU.
    """

    def __init__(self, folder: Path, settings: RerankSettings, *, name: str | None = None) -> None:
        """`name` is the model's in its identity, the folder's where None.

        Raises `WeightsError` when the folder holds no loadable model, `ConfigError` when a setting does not fit it.
        """
        self._hashes = folder_identity(folder, trust_remote_code=settings.trust_remote_code)
        self._name = name or folder.name
        self._devices = chosen_devices(settings.devices)
        self._batch_size = settings.batch_size or default_batch_size(self._devices)
        self._dtype = settings.dtype or ("float32" if device_kind(self._devices[0]) == "cpu" else "float16")
        # Kept, because its destructor moves the model back to the CPU.
        self._flag = _load(folder, trust_remote_code=settings.trust_remote_code)
        self._tokenizer = self._flag.tokenizer
        self._max_length = tokens_of_pair(self._flag.model.config, settings.max_length, USUAL)
        self._replicas = replicas(_in_dtype(self._flag.model, self._dtype), self._devices)

    @property
    def identity(self) -> Mapping[str, str | int]:
        return {
            "model": self._name,
            **self._hashes,
            "dtype": self._dtype,
            "device": device_kind(self._devices[0]),
            "max_length_tokens": self._max_length,
            "normalisation": "sigmoid",
            "passage_text": PASSAGE_TEXT,
        }

    @property
    def default_threshold(self) -> float | None:
        return BGE_THRESHOLD if self._name == BGE_RERANKER else None

    def score(self, queries: Sequence[str], candidates: Sequence[Sequence[Passage]]) -> list[list[float]]:
        """See `Reranker.score`."""
        encoded = self._encode(pairs_of(queries, candidates))
        logits = score_all(self._replicas, encoded, len, self._logits)
        return by_query([sigmoid(logit) for logit in logits], candidates)

    def _encode(self, pairs: Sequence[tuple[str, str]]) -> list[list[int]]:
        """Token ids of each pair, `<s> query </s></s> passage </s>`."""
        room = self._max_length - self._tokenizer.num_special_tokens_to_add(pair=True)
        queries = self._ids({query for query, _ in pairs}, min(self._max_length * 3 // 4, room))
        passages = self._ids({passage for _, passage in pairs}, room)
        return [
            self._tokenizer.build_inputs_with_special_tokens(
                queries[query], passages[passage][: room - len(queries[query])]
            )
            for query, passage in pairs
        ]

    def _ids(self, texts: set[str], most: int) -> dict[str, list[int]]:
        if not texts:
            return {}
        distinct = sorted(texts)
        encoded = self._tokenizer(
            distinct, add_special_tokens=False, max_length=most, truncation=True, return_attention_mask=False
        )
        return dict(zip(distinct, encoded["input_ids"], strict=True))

    def _logits(self, model: torch.nn.Module, pairs: list[list[int]]) -> list[float]:
        import torch

        device = next(model.parameters()).device
        logits: list[float] = []
        with torch.inference_mode():
            for batch in token_bounded(pairs, len, self._batch_size):
                ids, mask = _padded(batch, self._tokenizer.pad_token_id)
                answer = model(torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device))
                logits += answer.logits.view(-1).float().cpu().tolist()
        return logits


def _padded(pairs: Sequence[list[int]], padding: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ids and attention mask, (pairs, width)."""
    lengths = np.array([len(ids) for ids in pairs])
    rows = np.full((len(pairs), lengths.max()), padding, dtype=np.int64)
    for row, ids in zip(rows, pairs, strict=True):
        row[: len(ids)] = ids
    return rows, (np.arange(rows.shape[1]) < lengths[:, None]).astype(np.int64)


def _load(folder: Path, *, trust_remote_code: bool) -> Any:
    from FlagEmbedding import FlagReranker

    try:
        flag = FlagReranker(str(folder), devices="cpu", trust_remote_code=trust_remote_code)
    except load_errors() as error:
        raise WeightsError(f"no loadable reranker in {str(folder)!r}: {error}; {FETCH}") from error
    if flag.model.config.num_labels != 1:
        raise WeightsError(
            f"the model in {str(folder)!r} gives {flag.model.config.num_labels} numbers a pair, not one score: "
            "choose a reranker"
        )
    return flag


def _in_dtype(model: Any, dtype: str) -> Any:
    import torch

    return model.to(getattr(torch, dtype))
