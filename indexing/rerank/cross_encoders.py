"""Cross-encoders as rerankers, fed with pairs of query and passage in batches that cut across queries.

bge-reranker-v2-m3 (Chen et al., 2024) runs through FlagEmbedding's FlagReranker, its scores through a sigmoid. Any
cross-encoder of sentence-transformers (Reimers and Gurevych, 2019) has the scores that its own configuration says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from arena.config.settings import RerankConfig
from arena.errors import ConfigError, WeightsError
from arena.types import Passage, well_formed
from indexing.chunking import indexed_text
from indexing.embedding.devices import (
    BATCH_TOKENS,
    FETCH,
    chosen_devices,
    default_batch_size,
    device_kind,
    folder_identity,
    load_errors,
    replicas,
    token_bounded,
    tokens_read,
)

if TYPE_CHECKING:
    import torch

Model = TypeVar("Model")
Item = TypeVar("Item")

PASSAGE_TEXT = "title, newline, text"
DIGITS = 6


def pairs_of(queries: Sequence[str], candidates: Sequence[Sequence[Passage]]) -> list[tuple[str, str]]:
    """Each query with each of its candidates, query by query."""
    return [
        (well_formed(query), well_formed(indexed_text(passage)))
        for query, passages in zip(queries, candidates, strict=True)
        for passage in passages
    ]


def by_query(scores: Sequence[float], candidates: Sequence[Sequence[Passage]]) -> list[list[float]]:
    """The scores of `pairs_of`, apart again; steady."""
    remaining = iter(scores)
    return [[steady(next(remaining)) for _ in passages] for passages in candidates]


def score_all(
    models: Sequence[Model],
    items: Sequence[Item],
    length: Callable[[Item], int],
    work: Callable[[Model, list[Item]], list[float]],
) -> list[float]:
    """The score `work` gives each item, in their order; each model gets an equal share, its longest items first.

    Raises `ConfigError` when a batch does not fit into a device's memory.
    """
    import torch

    order = sorted(range(len(items)), key=lambda place: (-length(items[place]), place))
    shares = [share for share in (order[first :: len(models)] for first in range(len(models))) if share]
    jobs = list(zip(models, ([items[place] for place in share] for share in shares), strict=False))
    try:
        if len(jobs) <= 1:
            parts = [work(*job) for job in jobs]
        else:
            with ThreadPoolExecutor(len(jobs), thread_name_prefix="reranking") as pool:
                parts = list(pool.map(lambda job: work(*job), jobs))
    except torch.OutOfMemoryError as error:
        raise ConfigError(
            f"a batch of pairs does not fit into the device's memory: lower the reranker's batch_size or max_length "
            f"({str(error).partition('.')[0]})"
        ) from error
    scores = dict(zip(chain.from_iterable(shares), chain.from_iterable(parts), strict=True))
    return [scores[place] for place in range(len(items))]


def steady(score: float) -> float:
    """The score to six significant digits: further ones depend on the batch it came in and must not rank passages."""
    return float(f"{score:.{DIGITS}g}")


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


class FlagCrossEncoder:
    """A `Reranker` over the model and tokenizer of FlagEmbedding's `FlagReranker`; scores are in [0, 1].

    Its `compute_score` runs the first batch of a call twice to try out the memory, draws bars, and starts processes
    for several devices; so batches are made here, of pairs cut as it cuts them: the query to three quarters of
    `max_length`, then the passage to what is left. Half precision is the default on a GPU, single on the CPU.
    """

    def __init__(self, folder: Path, settings: RerankConfig, *, name: str | None = None) -> None:
        """`name` is the model's in its identity, the folder's where None.

        Raises `WeightsError` when the folder holds no loadable model, `ConfigError` when a setting does not fit it.
        """
        self._hashes = folder_identity(folder, trust_remote_code=settings.trust_remote_code)
        self._name = name or folder.name
        self._devices = chosen_devices(settings.devices)
        self._batch_size = settings.batch_size or default_batch_size(self._devices)
        self._dtype = settings.dtype or ("float32" if device_kind(self._devices[0]) == "cpu" else "float16")
        # Kept, because its destructor moves the model back to the CPU.
        self._flag = _load_bge(folder, trust_remote_code=settings.trust_remote_code)
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


def _load_bge(folder: Path, *, trust_remote_code: bool) -> Any:
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


class SentenceCrossEncoder:
    """A `Reranker` over a folder with a cross-encoder that gives one score a pair.

    The scale is the model's own (`normalisation` in the identity), so no threshold is known for it.
    Single precision is the default everywhere.
    """

    def __init__(self, folder: Path, settings: RerankConfig, *, name: str | None = None) -> None:
        """`name` is the model's in its identity, the folder's where None.

        Raises `WeightsError` when the folder holds no loadable model, `ConfigError` when a setting does not fit it.
        """
        self._hashes = folder_identity(folder, trust_remote_code=settings.trust_remote_code)
        self._name = name or folder.name
        self._devices = chosen_devices(settings.devices)
        self._dtype = settings.dtype or "float32"
        model = _load_cross_encoder(folder, self._dtype, trust_remote_code=settings.trust_remote_code)
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


def _load_cross_encoder(folder: Path, dtype: str, *, trust_remote_code: bool) -> Any:
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
