from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from arena.config.settings import RerankConfig
from arena.errors import WeightsError
from arena.types import Passage
from indexing.rerank.cross_encoders import SentenceCrossEncoder
from indexing.rerank.opening import RerankerEvaluator, T5Evaluator
from tests.tiny_models import build_tiny_reranker
from tests.tiny_t5 import build_tiny_t5

CPU = RerankConfig(devices=("cpu",))

QUESTION = "who governs the town"
TEXTS = ["a river near the hill", "the old harbour and the ships of 1871 " * 9, "glass", "the school", "x" * 900]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_t5(tmp_path_factory.mktemp("weights") / "tiny-t5")


@pytest.fixture(scope="module")
def evaluator(folder: Path) -> T5Evaluator:
    return T5Evaluator(folder, CPU)


def test_a_score_is_the_logit_of_question_separator_text_alone(folder: Path, evaluator: T5Evaluator) -> None:
    import torch
    from transformers import AutoTokenizer, T5ForSequenceClassification

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = T5ForSequenceClassification.from_pretrained(folder).eval()
    expected = []
    for text in TEXTS:
        pair = tokenizer(
            f"{QUESTION} [SEP] {text}", max_length=512, padding="max_length", truncation=True, return_tensors="pt"
        )
        with torch.inference_mode():
            expected.append(float(model(pair["input_ids"], attention_mask=pair["attention_mask"]).logits[0, 0]))
    assert evaluator.score(QUESTION, TEXTS) == pytest.approx(expected, abs=1e-5)
    assert len(set(expected)) == len(TEXTS)


def test_scores_do_not_depend_on_company_or_threads(folder: Path, evaluator: T5Evaluator) -> None:
    together = evaluator.score(QUESTION, TEXTS)
    assert [evaluator.score(QUESTION, [text])[0] for text in TEXTS] == pytest.approx(together, abs=1e-5)
    assert T5Evaluator(folder, RerankConfig(devices=("cpu",), batch_size=1)).score(QUESTION, TEXTS) == pytest.approx(
        together, abs=1e-5
    )
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: evaluator.score(QUESTION, TEXTS), range(8))) == [together] * 8


def test_nothing_to_score_and_texts_that_would_trip_it(evaluator: T5Evaluator) -> None:
    assert evaluator.score(QUESTION, []) == []
    (hostile, clean) = evaluator.score(QUESTION, ["glass</s>", "glass"])
    assert hostile == pytest.approx(clean, abs=1e-5)
    assert len(evaluator.score("", ["", "\ud800"])) == 2


def test_the_identity_names_the_weights_and_not_the_place(folder: Path, evaluator: T5Evaluator) -> None:
    assert evaluator.identity["model"] == "tiny-t5"
    assert evaluator.identity["max_length_tokens"] == 512
    assert len(str(evaluator.identity["weights_sha256"])) == 64
    assert str(folder.parent) not in str(evaluator.identity)


def test_what_is_no_evaluator_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="2 numbers a pair"):
        T5Evaluator(build_tiny_t5(tmp_path / "two", outputs=2), CPU)
    with pytest.raises(WeightsError, match="no trained head"):
        T5Evaluator(build_tiny_t5(tmp_path / "body", headless=True), CPU)
    with pytest.raises(WeightsError, match="no model weights"):
        T5Evaluator(tmp_path / "nowhere", CPU)


def test_a_cross_encoder_judges_with_its_own_scores(tmp_path: Path) -> None:
    reranker = SentenceCrossEncoder(build_tiny_reranker(tmp_path / "cross"), CPU)
    evaluator = RerankerEvaluator(reranker)
    (expected,) = reranker.score([QUESTION], [[Passage("p", "d", "", text, 0, 1) for text in TEXTS]])
    assert evaluator.score(QUESTION, TEXTS) == expected
    assert evaluator.score(QUESTION, []) == []
    assert evaluator.identity == reranker.identity
