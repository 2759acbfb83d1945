"""What goes through a transformer while one looks on. For tests of how texts are batched and in which precision."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass through all layers of a transformer: its texts, their padded tokens, and the type of its parameters."""

    texts: int
    tokens: int
    dtypes: frozenset[str]


@contextmanager
def watched_passes() -> Iterator[list[Pass]]:
    """Every pass of a BERT or XLM-RoBERTa model inside the block."""
    from torch.nn.modules.module import register_module_forward_hook
    from transformers.models.bert.modeling_bert import BertEncoder
    from transformers.models.xlm_roberta.modeling_xlm_roberta import XLMRobertaEncoder

    seen: list[Pass] = []

    def hook(module: Any, inputs: object, output: Any) -> None:
        if isinstance(module, BertEncoder | XLMRobertaEncoder):  # the layers: a model's own `forward` runs no hooks
            texts, tokens = output.last_hidden_state.shape[:2]
            dtypes = frozenset(str(parameter.dtype).removeprefix("torch.") for parameter in module.parameters())
            seen.append(Pass(texts, tokens, dtypes))

    handle = register_module_forward_hook(hook)
    try:
        yield seen
    finally:
        handle.remove()
