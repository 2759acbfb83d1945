"""Random XLM-RoBERTa models in the layouts of bge-m3 and bge-reranker-v2-m3, made on the spot.

What FlagEmbedding loads from these folders is what it loads from the hub's: only the weights say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast, XLMRobertaConfig

FRAME = ("<s>", "<pad>", "</s>", "<unk>")
"""Special tokens by id; `<mask>` is the last id."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Size of a random model. `max_length`: tokens it can read."""

    layers: int = 2
    width: int = 32
    max_length: int = 32


def build_bge_m3(folder: Path, corpus: Sequence[str], shape: Shape = Shape(), *, seed: int = 0) -> Path:
    """A folder for `BGEM3FlagModel`: encoder, tokenizer trained on `corpus`, and the two heads."""
    import torch
    from transformers import XLMRobertaModel

    tokenizer = _tokenizer(folder, corpus, shape)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        XLMRobertaModel(_config(tokenizer, shape)).save_pretrained(folder)  # type: ignore[no-untyped-call]
        for name, outputs in (("colbert_linear.pt", shape.width), ("sparse_linear.pt", 1)):
            torch.save(torch.nn.Linear(shape.width, outputs).state_dict(), folder / name)
    return folder


def build_bge_reranker(folder: Path, corpus: Sequence[str], shape: Shape = Shape(), *, seed: int = 0) -> Path:
    """A folder for `FlagReranker`: a sequence classifier with one output, and its tokenizer."""
    import torch
    from transformers import XLMRobertaForSequenceClassification

    tokenizer = _tokenizer(folder, corpus, shape)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        config = _config(tokenizer, shape)
        config.num_labels = 1
        XLMRobertaForSequenceClassification(config).save_pretrained(folder)  # type: ignore[no-untyped-call]
    return folder


def _config(tokenizer: PreTrainedTokenizerFast, shape: Shape) -> XLMRobertaConfig:
    from transformers import XLMRobertaConfig

    return XLMRobertaConfig(  # type: ignore[no-untyped-call]
        vocab_size=len(tokenizer),
        hidden_size=shape.width,
        num_hidden_layers=shape.layers,
        num_attention_heads=4,
        intermediate_size=4 * shape.width,
        max_position_embeddings=shape.max_length + 2,  # positions start behind the padding id
        type_vocab_size=1,
        initializer_range=0.3,  # wide enough that different texts get clearly different vectors
        pad_token_id=FRAME.index("<pad>"),
        bos_token_id=FRAME.index("<s>"),
        eos_token_id=FRAME.index("</s>"),
    )


def _tokenizer(folder: Path, corpus: Sequence[str], shape: Shape) -> PreTrainedTokenizerFast:
    """Unigram pieces over text with spaces made visible, framed as XLM-RoBERTa frames a text and a pair."""
    from tokenizers import Tokenizer
    from tokenizers.models import Unigram
    from tokenizers.pre_tokenizers import Metaspace
    from tokenizers.processors import TemplateProcessing
    from tokenizers.trainers import UnigramTrainer
    from transformers import XLMRobertaTokenizerFast

    tokenizer = Tokenizer(Unigram())
    tokenizer.pre_tokenizer = Metaspace()
    trainer = UnigramTrainer(vocab_size=400, special_tokens=list(FRAME), unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(corpus, trainer)
    tokenizer.post_processor = TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", FRAME.index("<s>")), ("</s>", FRAME.index("</s>"))],
    )
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    fast: PreTrainedTokenizerFast = XLMRobertaTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_file=str(folder / "tokenizer.json"), model_max_length=shape.max_length
    )
    fast.save_pretrained(folder)
    return fast
