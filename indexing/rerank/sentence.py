"""Any cross-encoder of sentence-transformers (Reimers and Gurevych, 2019), scores as its own configuration has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.errors import WeightsError
from arena.types import Passage
from indexing.embedding.devices import chosen_devices, default_batch_size, device_kind, replicas
from indexing.embedding.model_folder import FETCH, folder_identity, load_errors
from indexing.rerank.pairs import PASSAGE_TEXT, by_query, pairs_of, score_all
from indexing.rerank.reading import USUAL, bounded_batch_size, tokens_of_pair
from indexing.rerank.settings import RerankSettings


class SentenceCrossEncoder:
    """A `Reranker` over a folder with a cross-encoder that gives one score a pair.

    The scale is the model's own (`normalisation` in the identity), so no threshold is known for it.
    Single precision is the default everywhere.
    """

    def __init__(self, folder: Path, settings: RerankSettings, *, name: str | None = None) -> None:
        """`name` is the model's in its identity, the folder's where None.

        Raises `WeightsError` when the folder holds no loadable model, `ConfigError` when a setting does not fit it.
        """
        self._hashes = folder_identity(folder, trust_remote_code=settings.trust_remote_code)
        self._name = name or folder.name
        self._devices = chosen_devices(settings.devices)
        self._dtype = settings.dtype or "float32"
        model = _load(folder, self._dtype, trust_remote_code=settings.trust_remote_code)
        usual = model.max_seq_length or USUAL
        self._max_length = tokens_of_pair(model.config, settings.max_length, min(usual, USUAL))
        wanted = settings.batch_size or default_batch_size(self._devices)
        self._batch_size = bounded_batch_size(wanted, self._max_length)
        model.max_seq_length = self._max_length
        self._normalisation = type(model.activation_fn).__name__.lower()
        self._replicas = replicas(model, self._devices)

    @property
    def identity(self) -> Mapping[str, str | int]:
        return {
            "model": self._name,
            **self._hashes,
            "dtype": self._dtype,
            "device": device_kind(self._devices[0]),
            "max_length_tokens": self._max_length,
            "normalisation": self._normalisation,
            "passage_text": PASSAGE_TEXT,
        }

    @property
    def default_threshold(self) -> float | None:
        return None

    def score(self, queries: Sequence[str], candidates: Sequence[Sequence[Passage]]) -> list[list[float]]:
        """See `Reranker.score`."""
        pairs = pairs_of(queries, candidates)
        scores = score_all(self._replicas, pairs, lambda pair: len(pair[0]) + len(pair[1]), self._predict)
        return by_query(scores, candidates)

    def _predict(self, model: Any, pairs: list[tuple[str, str]]) -> list[float]:
        scores = model.predict(pairs, batch_size=self._batch_size, show_progress_bar=False, convert_to_tensor=True)
        return [float(score) for score in scores.float().cpu()]


def _load(folder: Path, dtype: str, *, trust_remote_code: bool) -> Any:
    import torch
    from sentence_transformers import CrossEncoder

    try:
        model = CrossEncoder(
            str(folder),
            device="cpu",
            local_files_only=True,
            trust_remote_code=trust_remote_code,
            model_kwargs={"dtype": getattr(torch, dtype)},
        )
    except load_errors() as error:
        raise WeightsError(f"no loadable cross-encoder in {str(folder)!r}: {error}; {FETCH}") from error
    if model.num_labels != 1:
        raise WeightsError(
            f"the model in {str(folder)!r} gives {model.num_labels} numbers a pair, not one score: choose a reranker"
        )
    return model
