"""A random T5 with a head of one output, laid out like the released evaluator of Corrective RAG."""

from __future__ import annotations

from pathlib import Path

_SPECIAL = ("<pad>", "</s>", "<unk>")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,;:?!'-()[]"


def build_tiny_t5(folder: Path, *, seed: int = 0, outputs: int = 1, headless: bool = False) -> Path:
    """One layer, 16 dimensions, a token a letter. `headless` saves the body alone."""
    import torch
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration, T5ForSequenceClassification

    vocabulary = {token: place for place, token in enumerate((*_SPECIAL, *_LETTERS))}
    letters = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    letters.normalizer = normalizers.Lowercase()
    letters.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(Regex("."), "isolated")]
    )
    letters.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    PreTrainedTokenizerFast(
        tokenizer_object=letters, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    ).save_pretrained(folder)
    config = T5Config(
        vocab_size=len(vocabulary),
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=1,
        num_heads=2,
        dropout_rate=0.0,
        classifier_dropout=0.0,
        num_labels=outputs,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
    )
    kind = T5ForConditionalGeneration if headless else T5ForSequenceClassification
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        kind(config).save_pretrained(folder)
    return folder


def t5_router_folder(folder: Path) -> Path:
    """A trained router of A, B and C for the reader `fake:`, whose T5 is a random one."""
    from indexing.routing.opening import CALLED, NAME, RouterFile, router_text, weights_sha256

    build_tiny_t5(folder / "model", headless=True)
    sha256 = weights_sha256(folder, "t5")
    told = RouterFile(kind="t5", called=CALLED["t5"], labels=("A", "B", "C"), reader="fake:", weights_sha256=sha256)
    (folder / NAME).write_text(router_text(told))
    return folder
