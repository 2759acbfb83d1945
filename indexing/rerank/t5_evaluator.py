"""The retrieval evaluator of Corrective RAG (Yan et al., 2024): T5 with a head of one output, read as its score.

The released checkpoint is fine-tuned from T5-large; pairs it was trained on had targets +1 and -1, and its output is
not clamped.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.errors import WeightsError
from arena.types import well_formed
from indexing.embedding.batches import token_bounded
from indexing.embedding.devices import chosen_devices, default_batch_size, device_kind, replicas
from indexing.embedding.model_folder import FETCH, folder_identity, load_errors
from indexing.rerank.pairs import score_all, steady

MAX_LENGTH = 512
SEPARATOR = " [SEP] "


class T5Evaluator:
    """An `Evaluator` over a folder with a T5 for sequence classification; texts beyond 512 tokens are cut off.

    Texts are padded to the longest of their batch instead of to 512: padding is masked, so that scores are the same.
    """

    def __init__(self, folder: Path, *, devices: Sequence[str] | None = None, batch_size: int | None = None) -> None:
        """Raises `WeightsError` when the folder holds no loadable T5 with one output."""
        self._hashes = folder_identity(folder)
        self._name = folder.resolve().name
        self._devices = chosen_devices(devices)
        self._batch_size = batch_size or default_batch_size(self._devices)
        self._tokenizer, model = _load(folder)
        self._replicas = replicas(model, self._devices)
        self._turn = threading.Lock()

    @property
    def identity(self) -> Mapping[str, str | int]:
        return {
            "model": self._name,
            **self._hashes,
            "dtype": "float32",
            "device": device_kind(self._devices[0]),
            "max_length_tokens": MAX_LENGTH,
        }

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """See `Evaluator.score`; nominally in [-1, 1]. One caller at a time, the others wait."""
        if not texts:
            return []
        inputs = [self._input(question, text) for text in texts]
        with self._turn:
            encoded = self._tokenizer(inputs, max_length=MAX_LENGTH, truncation=True)["input_ids"]
            return [steady(score) for score in score_all(self._replicas, encoded, len, self._logits)]

    def _input(self, question: str, text: str) -> str:
        """The pair as one text; the head reads at the end mark, so a text may not write one itself."""
        return well_formed(f"{question}{SEPARATOR}{text}").replace(self._tokenizer.eos_token, " ")

    def _logits(self, model: Any, rows: list[list[int]]) -> list[float]:
        import torch

        device = next(model.parameters()).device
        scores: list[float] = []
        with torch.inference_mode():
            for batch in token_bounded(rows, len, self._batch_size):
                padded = self._tokenizer.pad({"input_ids": batch}, return_tensors="pt").to(device)
                scores += model(**padded).logits.view(-1).float().cpu().tolist()
        return scores


def _load(folder: Path) -> tuple[Any, Any]:
    import torch
    from transformers import AutoTokenizer, T5ForSequenceClassification

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)  # type: ignore[no-untyped-call]
        model, report = T5ForSequenceClassification.from_pretrained(
            folder, local_files_only=True, dtype=torch.float32, output_loading_info=True
        )
    except load_errors() as error:
        raise WeightsError(f"no loadable T5 evaluator in {str(folder)!r}: {error}; {FETCH}") from error
    if model.config.num_labels != 1:
        raise WeightsError(
            f"the T5 in {str(folder)!r} gives {model.config.num_labels} numbers a pair, not one score: take the "
            "retrieval evaluator that was released with Corrective RAG"
        )
    if any(name.startswith("classification_head") for name in report["missing_keys"]):
        raise WeightsError(
            f"the T5 in {str(folder)!r} has no trained head and would score at random: take "
            "the retrieval evaluator that was released with Corrective RAG"
        )
    return tokenizer, model
