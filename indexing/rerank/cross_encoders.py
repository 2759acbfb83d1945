"""Cross-encoders as rerankers, fed with pairs of query and passage in batches that cut across queries.

bge-reranker-v2-m3 (Chen et al., 2024) runs through FlagEmbedding's FlagReranker, its scores through a sigmoid. Any
cross-encoder of sentence-transformers (Reimers and Gurevych, 2019) has the scores that its own configuration says.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.config.settings import RerankConfig
from arena.errors import ConfigError, WeightsError
from arena.types import Passage, well_formed
from indexing.chunking import indexed_text
from indexing.devices import (
    BATCH_TOKENS,
    FolderModel,
    dealt,
    device_kind,
    loading,
    padded,
    replicas,
    token_bounded,
    tokens_read,
)

if TYPE_CHECKING:
    import torch

PASSAGE_TEXT = "title, newline, text"
DIGITS = 6


def steady(score: float) -> float:
    """The score to six significant digits: further ones depend on the batch it came in and must not rank passages."""
    return float(f"{score:.{DIGITS}g}")


def in_places(parts: Sequence[Sequence[float]], places: Sequence[int]) -> list[float]:
    """The scores of items that were `dealt`, in their order."""
    scores = list(chain.from_iterable(parts))
    return [scores[place] for place in places]


def sigmoid(logit: float) -> float:
    """1 / (1 + e^-x), without overflow and with full precision near 0."""
    e = math.exp(-abs(logit))
    return 1 / (1 + e) if logit >= 0 else e / (1 + e)


LEAST = 16
USUAL = 512  # tokens of a pair, where the settings do not say


def tokens_of_pair(config: object, wanted: int | None, usual: int) -> int:
    """Tokens a model of this configuration reads of query and passage together: as wanted, else as usual.

    Raises `ConfigError` on more than it can, and on too little for a pair.
    """
    most = tokens_read(config, None)
    if wanted is not None and wanted > most:
        raise ConfigError(f"rerank setting max_length {wanted!r} is more than the {most} tokens the model can read")
    if wanted is not None and wanted < LEAST:
        raise ConfigError(f"rerank setting max_length {wanted!r} has no room for a pair: at least {LEAST} are needed")
    return wanted or min(usual, most)


def bounded_batch_size(batch_size: int, max_length: int) -> int:
    """Pairs of a batch that take no more padded tokens than `token_bounded` allows, were all of them that long."""
    return max(1, batch_size * BATCH_TOKENS // max(max_length, BATCH_TOKENS))


BGE_RERANKER = "bge-reranker-v2-m3"
BGE_THRESHOLD = 0.15
"""From the experiment this arena grew out of, on sigmoid scores of bge-reranker-v2-m3; it means nothing elsewhere."""


class CrossEncoder(FolderModel, ABC):
    """What the rerankers have in common that read query and passage together; see `Reranker`.

    One sets how many tokens it reads and on which scale it scores.
    """

    default_threshold: float | None = None

    _max_length: int
    _normalisation: str

    @abstractmethod
    def _scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Of pairs of query and passage."""

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

    def score(self, queries: Sequence[str], candidates: Sequence[Sequence[Passage]]) -> list[list[float]]:
        """See `Reranker.score`."""
        pairs = [
            (well_formed(query), well_formed(indexed_text(passage)))
            for query, passages in zip(queries, candidates, strict=True)
            for passage in passages
        ]
        scores = map(steady, self._scores(pairs))
        return [list(islice(scores, len(passages))) for passages in candidates]


class FlagCrossEncoder(CrossEncoder):
    """A `Reranker` over the model and tokenizer of FlagEmbedding's `FlagReranker`; scores are in [0, 1].

    Its `compute_score` runs the first batch of a call twice to try out the memory, draws bars, and starts processes
    for several devices; so batches are made here, of pairs cut as it cuts them: the query to three quarters of
    `max_length`, then the passage to what is left. Half precision is the default on a GPU, single on the CPU.
    """

    _normalisation = "sigmoid"

    def __init__(self, folder: Path, settings: RerankConfig, *, name: str | None = None) -> None:
        """`name` is the model's in its identity, the folder's where None.

        Raises `WeightsError` when the folder holds no loadable model, `ConfigError` when a setting does not fit it.
        """
        super().__init__(folder, settings, name, half_on_gpu=True)
        # Kept, because its destructor moves the model back to the CPU.
        self._flag = _load_bge(folder, trust_remote_code=settings.trust_remote_code)
        self._tokenizer = self._flag.tokenizer
        self._max_length = tokens_of_pair(self._flag.model.config, settings.max_length, USUAL)
        self._replicas = replicas(_in_dtype(self._flag.model, self._dtype), self._devices)
        self.default_threshold = BGE_THRESHOLD if self._name == BGE_RERANKER else None

    def _scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        logits = in_places(*dealt(self._replicas, self._encode(pairs), len, self._logits, section="rerank"))
        return [sigmoid(logit) for logit in logits]

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
                ids, mask = padded(batch, self._tokenizer.pad_token_id)
                answer = model(torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device))
                logits += answer.logits.view(-1).float().cpu().tolist()
        return logits


def _load_bge(folder: Path, *, trust_remote_code: bool) -> Any:
    from FlagEmbedding import FlagReranker

    with loading("reranker", folder):
        flag = FlagReranker(str(folder), devices="cpu", trust_remote_code=trust_remote_code)
    check_outputs(flag.model.config.num_labels, "model", folder, "choose a reranker")
    return flag


def check_outputs(outputs: int, what: str, folder: Path, advice: str) -> None:
    """Raise `WeightsError` for a model that gives a pair more than one number."""
    if outputs != 1:
        raise WeightsError(f"the {what} in {str(folder)!r} gives {outputs} numbers a pair, not one score: {advice}")


def _in_dtype(model: Any, dtype: str) -> Any:
    import torch

    return model.to(getattr(torch, dtype))


class SentenceCrossEncoder(CrossEncoder):
    """A `Reranker` over a folder with a cross-encoder that gives one score a pair.

    The scale is the model's own (`normalisation` in the identity), so no threshold is known for it.
    Single precision is the default everywhere.
    """

    def __init__(self, folder: Path, settings: RerankConfig, *, name: str | None = None) -> None:
        """`name` is the model's in its identity, the folder's where None.

        Raises `WeightsError` when the folder holds no loadable model, `ConfigError` when a setting does not fit it.
        """
        super().__init__(folder, settings, name)
        model = _load_cross_encoder(folder, self._dtype, trust_remote_code=settings.trust_remote_code)
        usual = model.max_seq_length or USUAL
        self._max_length = tokens_of_pair(model.config, settings.max_length, min(usual, USUAL))
        self._batch_size = bounded_batch_size(self._batch_size, self._max_length)
        model.max_seq_length = self._max_length
        self._normalisation = type(model.activation_fn).__name__.lower()
        self._replicas = replicas(model, self._devices)

    def _scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return in_places(*dealt(self._replicas, pairs, _characters, self._predict, section="rerank"))

    def _predict(self, model: Any, pairs: list[tuple[str, str]]) -> list[float]:
        scores = model.predict(pairs, batch_size=self._batch_size, show_progress_bar=False, convert_to_tensor=True)
        return [float(score) for score in scores.float().cpu()]


def _characters(pair: tuple[str, str]) -> int:
    return len(pair[0]) + len(pair[1])


def _load_cross_encoder(folder: Path, dtype: str, *, trust_remote_code: bool) -> Any:
    import torch
    from sentence_transformers import CrossEncoder

    with loading("cross-encoder", folder):
        model = CrossEncoder(
            str(folder),
            device="cpu",
            local_files_only=True,
            trust_remote_code=trust_remote_code,
            model_kwargs={"dtype": getattr(torch, dtype)},
        )
    check_outputs(model.num_labels, "model", folder, "choose a reranker")
    return model
