"""How much of a pair a reranker reads."""

from __future__ import annotations

from arena.errors import ConfigError
from indexing.embedding.batches import BATCH_TOKENS
from indexing.embedding.model_folder import tokens_read

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
