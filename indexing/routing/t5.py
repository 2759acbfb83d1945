"""The paper's router: T5 that reads the raw question and writes one letter (Adaptive-RAG, section 3.2 and its code)."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.errors import WeightsError
from arena.types import Tier, well_formed
from indexing.embedding.devices import chosen_devices
from indexing.embedding.model_folder import FETCH, load_errors

MODEL = "model"
"""Folder of the T5 inside a router's folder."""

MAX_LENGTH = 384


class T5Router:
    """A `Router`: softmax over the letters' logits at the first decoding step. Questions are cut at 384 tokens."""

    def __init__(
        self,
        folder: Path,
        labels: Sequence[str],
        identity: Mapping[str, str | int],
        *,
        devices: Sequence[str] | None = None,
    ) -> None:
        """`folder` holds tokenizer and model. Raises `WeightsError` where it does not."""
        self._labels = tuple(labels)
        self._identity = identity
        self._tokenizer, self._model = load_t5(folder)
        self._letters = letter_ids(self._tokenizer, self._labels)
        self._model.to(chosen_devices(devices)[0]).eval()
        self._turn = threading.Lock()

    @property
    def identity(self) -> Mapping[str, str | int]:
        return self._identity

    @property
    def tier(self) -> Tier:
        return "T2"

    def probabilities(self, question: str) -> Mapping[str, float]:
        """See `Router.probabilities`. One caller at a time, the others wait."""
        with self._turn:
            ((*row,),) = letter_probabilities(self._model, self._tokenizer, self._letters, [question])
        return dict(zip(self._labels, row, strict=True))


def load_t5(folder: Path) -> tuple[Any, Any]:
    """Tokenizer and sequence-to-sequence T5 of a folder, in float32.

    Raises:
        WeightsError: there is none that can be loaded.
    """
    import torch
    from transformers import AutoTokenizer, T5ForConditionalGeneration

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)  # type: ignore[no-untyped-call]
        model, report = T5ForConditionalGeneration.from_pretrained(
            folder, local_files_only=True, dtype=torch.float32, output_loading_info=True
        )
    except load_errors() as error:
        raise WeightsError(f"no loadable T5 in {str(folder)!r}: {error}; {FETCH}") from error
    if report["missing_keys"]:
        missing = ", ".join(sorted(report["missing_keys"])[:3])
        raise WeightsError(f"the T5 in {str(folder)!r} lacks {missing}: take one that writes, such as t5-small")
    return tokenizer, model


def letter_ids(tokenizer: Any, labels: Sequence[str]) -> list[int]:
    """The first token of each label.

    Raises:
        WeightsError: the tokenizer does not tell them apart.
    """
    ids = [tokenizer(label, add_special_tokens=False)["input_ids"][:1] for label in labels]
    first = [token for row in ids for token in row]
    if len(set(first)) < len(labels) or tokenizer.unk_token_id in first:
        raise WeightsError(f"the T5's tokenizer does not tell {', '.join(labels)} apart: take another T5")
    return first


def encoded(tokenizer: Any, texts: Sequence[str]) -> Any:
    """A padded batch of questions. An end mark is the tokenizer's to write, never a question's."""
    plain = [well_formed(text).replace(tokenizer.eos_token, " ") for text in texts]
    return tokenizer(
        plain,
        max_length=MAX_LENGTH,
        truncation=True,
        padding=True,
        return_tensors="pt",
        return_token_type_ids=False,
    )


def letter_probabilities(
    model: Any, tokenizer: Any, letters: Sequence[int], texts: Sequence[str], batch_size: int = 32
) -> list[list[float]]:
    """A row for each text: the share of each letter, sum 1. The model is in evaluation mode."""
    import torch

    rows: list[list[float]] = []
    for at in range(0, len(texts), batch_size):
        batch = encoded(tokenizer, texts[at : at + batch_size]).to(model.device)
        start = torch.full((len(batch["input_ids"]), 1), model.config.decoder_start_token_id, device=model.device)
        with torch.inference_mode():
            logits = model(**batch, decoder_input_ids=start).logits[:, 0, list(letters)]
        rows += torch.softmax(logits.double(), dim=-1).cpu().tolist()
    return rows
