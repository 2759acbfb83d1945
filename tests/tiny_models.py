"""Random models of the real layout, small enough to make in a test: a folder that the real code path loads."""

from __future__ import annotations

import json
from pathlib import Path

from experiments.bench.made_up import ModelSize, build_bge_m3, corpus_tokenizer, xlm_config

WIDTH = 32
MAX_LENGTH = 32
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,;:?!'-()"
_CORPUS = (
    "the river rises near the hill town and was bridged in 1871",
    "who governs the town near the source of the river",
    "a ship and another ship lay in the old harbour",
    "the school teaches glassblowing and lies on the estuary",
    " ".join(_LETTERS),
)


def build_tiny_minilm(folder: Path, *, seed: int = 0) -> Path:
    """A sentence-transformers folder like all-MiniLM-L6-v2's: two layers, 32 dimensions, 32 tokens, random weights.

    Words are spelt out in letters, so different texts get different vectors.
    """
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    words = [*_SPECIAL, *_LETTERS, *(f"##{letter}" for letter in _LETTERS)]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    tokenizer = BertTokenizerFast(vocab_file=str(folder / "vocab.txt"), model_max_length=MAX_LENGTH)
    tokenizer.save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=4 * WIDTH,
        max_position_embeddings=2 * MAX_LENGTH,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        BertModel(config).save_pretrained(folder)
    _write(folder / "modules.json", [_module(0, "", "Transformer"), _module(1, "1_Pooling", "Pooling")])
    _write(folder / "sentence_bert_config.json", {"max_seq_length": MAX_LENGTH, "do_lower_case": False})
    _write(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": WIDTH, "pooling_mode_mean_tokens": True})
    return folder


def build_tiny_bge_m3(folder: Path, *, seed: int = 0) -> Path:
    """A folder like bge-m3's: XLM-RoBERTa of two layers, 32 dimensions, 32 tokens, with both heads."""
    return build_bge_m3(folder, _CORPUS, ModelSize(layers=2, width=WIDTH, max_length=MAX_LENGTH), seed=seed)


def build_tiny_reranker(folder: Path, *, seed: int = 0) -> Path:
    """A folder like bge-reranker-v2-m3's: XLM-RoBERTa of two layers that scores a pair of texts of 64 tokens."""
    import torch
    from transformers import XLMRobertaForSequenceClassification

    shape = ModelSize(layers=2, width=WIDTH, max_length=2 * MAX_LENGTH)
    config = xlm_config(corpus_tokenizer(folder, _CORPUS, shape), shape)
    config.num_labels = 1
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        XLMRobertaForSequenceClassification(config).save_pretrained(folder)
    return folder


def _module(number: int, path: str, kind: str) -> dict[str, int | str]:
    return {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}


def _write(file: Path, content: object) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(content), encoding="utf-8")
