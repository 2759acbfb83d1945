"""A text encoder that is TF-IDF (Sparck Jones, 1972), in a folder that sentence-transformers loads."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_COMMON = 0.2  # a word that more of the texts have is taken for a function word
_MAX_TOKENS = 512
_NO_SCALING = 1e4  # an epsilon far above any variance makes the layer norm linear


def write_tfidf(folder: Path, texts: Sequence[str]) -> None:
    """An encoder with a dimension for each word of `texts` but the commonest.

    A BERT without layers. The vector of a word is its idf, ln(texts / texts that have it), in the word's own dimension;
    that of a text is the mean over its tokens. Words that are common, or in no text, count for nothing.
    """
    from transformers import BertTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    frequencies = sorted(_document_frequencies(texts).items())
    idf = {word: math.log(len(texts) / n) for word, n in frequencies if n <= _COMMON * len(texts)}
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("".join(f"{word}\n" for word in (*_SPECIAL, *idf)), encoding="utf-8")
    tokenizer = BertTokenizerFast(vocab_file=str(vocabulary), model_max_length=_MAX_TOKENS)  # type: ignore[no-untyped-call]
    tokenizer.save_pretrained(folder)
    _write_weights(folder, idf)
    _write_pipeline(folder, len(_SPECIAL) + len(idf))


def _document_frequencies(texts: Sequence[str]) -> Counter[str]:
    """Word -> texts that have it, in the words that BERT's tokenizer sees."""
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer

    normalizer, splitter = BertNormalizer(), BertPreTokenizer()
    words = ({word for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(text))} for text in texts)
    return Counter(word for found in words for word in found)


def _write_weights(folder: Path, idf: Mapping[str, float]) -> None:
    import torch
    from transformers import BertConfig, BertModel

    size = len(_SPECIAL) + len(idf)
    config = BertConfig(  # type: ignore[no-untyped-call]
        vocab_size=size,
        hidden_size=size,
        num_hidden_layers=0,
        num_attention_heads=1,
        intermediate_size=1,
        max_position_embeddings=_MAX_TOKENS,
        layer_norm_eps=_NO_SCALING,
    )
    model = BertModel(config)  # type: ignore[no-untyped-call]
    weights = {name: torch.zeros_like(tensor) for name, tensor in model.state_dict().items()}
    places = range(len(_SPECIAL), size)
    weights["embeddings.word_embeddings.weight"][places, places] = torch.tensor(list(idf.values()))
    weights["embeddings.LayerNorm.weight"] += 1.0
    model.load_state_dict(weights)
    model.save_pretrained(folder)


def _write_pipeline(folder: Path, dimension: int) -> None:
    """Mean pooling, as sentence-transformers reads it."""
    stages = (("", "Transformer"), ("1_Pooling", "Pooling"))
    files = {
        "modules.json": [
            {"idx": place, "name": str(place), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for place, (path, kind) in enumerate(stages)
        ],
        "sentence_bert_config.json": {"max_seq_length": _MAX_TOKENS, "do_lower_case": False},
        "1_Pooling/config.json": {"word_embedding_dimension": dimension, "pooling_mode_mean_tokens": True},
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
