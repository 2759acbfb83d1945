"""The two routers that can be trained.

`t5` is the paper's: T5 that reads the raw question and writes one letter (Adaptive-RAG, section 3.2 and its code).
`light` is a multinomial logistic regression on a question's embedding and length, applied with nothing but numpy.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.errors import WeightsError
from arena.protocols import Embedder, Vectors
from arena.types import Tier, well_formed
from indexing.devices import chosen_devices, loading

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

    with loading("T5", folder):
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model, report = T5ForConditionalGeneration.from_pretrained(
            folder, local_files_only=True, dtype=torch.float32, output_loading_info=True
        )
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


Features = NDArray[np.float64]

_MARGIN = 3.0
"""Lengths beyond so many standard deviations from the training questions' say no more than those there."""


def log_lengths(texts: Sequence[str]) -> NDArray[np.float64]:
    """(n,) natural logarithm of each text's characters and one."""
    return np.log1p(np.array([len(text) for text in texts], dtype=np.float64))


def question_features(dense: Vectors, texts: Sequence[str], centre: float, spread: float) -> Features:
    """(n, d + 1): `dense` (n, d), rows L2 = 1, and a column of lengths in standard deviations from the mean.

    `centre` and `spread` are those of `log_lengths` over the training questions. A sentence embedding is made to tell
    what a text is about and hides how many things it names; its length does not.
    """
    lengths = np.clip((log_lengths(texts) - centre) / spread, -_MARGIN, _MARGIN)
    return np.hstack([dense.astype(np.float64), lengths[:, np.newaxis]])


WEIGHTS = "weights.safetensors"
_SHAPES = {"coefficients": 2, "intercepts": 1, "length": 1}


@dataclass(frozen=True, slots=True)
class LightWeights:
    """A fitted regression over m labels and d + 1 features.

    `coefficients` (m, d + 1) and `intercepts` (m,) float64; an intercept of -inf is a label that no training question
    had. `length` (2,): centre and spread of `log_lengths` over the training questions.
    """

    coefficients: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    length: NDArray[np.float64]

    def probabilities(self, dense: Vectors, texts: Sequence[str]) -> NDArray[np.float64]:
        """(n, m), rows sum 1: of each label for the questions `texts` with vectors `dense` (n, d)."""
        features = question_features(dense, texts, float(self.length[0]), float(self.length[1]))
        logits = features @ self.coefficients.T + self.intercepts
        exponents: NDArray[np.float64] = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares: NDArray[np.float64] = exponents / exponents.sum(axis=1, keepdims=True)
        return shares

    def save(self, folder: Path) -> None:
        """Write weights.safetensors into `folder`. Raises `OSError`."""
        from safetensors.numpy import save

        tensors = {name: np.ascontiguousarray(getattr(self, name), dtype=np.float64) for name in _SHAPES}
        (folder / WEIGHTS).write_bytes(save(tensors))


def read_light(folder: Path, labels: int, dimension: int) -> LightWeights:
    """The weights in `folder`, for so many labels and vectors of that width.

    Raises:
        WeightsError: they are missing, unreadable or of another shape.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    place = folder / WEIGHTS
    try:
        tensors = load(place.read_bytes())
        found = LightWeights(*(tensors[name] for name in _SHAPES))
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise WeightsError(f"cannot read the router's weights {str(place)!r} ({error}): train it again") from None
    shapes = (found.coefficients.shape, found.intercepts.shape, found.length.shape)
    if shapes != ((labels, dimension + 1), (labels,), (2,)):
        raise WeightsError(
            f"the router's weights {str(place)!r} have shapes {shapes}, not those of {labels} labels over vectors of "
            f"{dimension} numbers: train it again"
        )
    return found


class LightRouter:
    """A `Router` over the run's own embedder; a question is embedded as a query is."""

    def __init__(
        self,
        weights: LightWeights,
        labels: Sequence[str],
        identity: Mapping[str, str | int],
        embedder: Embedder,
        models: threading.Lock | None = None,
    ) -> None:
        """`models` is held while the embedder works: whoever shares the embedder shares it (None: nobody does)."""
        self._weights = weights
        self._labels = tuple(labels)
        self._identity = identity
        self._embedder = embedder
        self._models = models or threading.Lock()

    @property
    def identity(self) -> Mapping[str, str | int]:
        return self._identity

    @property
    def tier(self) -> Tier:
        """T1: it stands in for the T5 that the paper trained."""
        return "T1"

    def probabilities(self, question: str) -> Mapping[str, float]:
        """See `Router.probabilities`. One caller at a time, the others wait."""
        asked = [well_formed(question)]
        with self._models:
            dense = self._embedder.embed_queries(asked).dense
        (row,) = self._weights.probabilities(dense, asked)
        return dict(zip(self._labels, map(float, row), strict=True))
