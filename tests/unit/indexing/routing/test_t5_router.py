from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from arena.errors import WeightsError
from indexing.routing.routers import MAX_LENGTH, T5Router, encoded, letter_ids, load_t5
from tests.tiny_t5 import build_tiny_t5

QUESTION = "who governs the town"
LABELS = ("A", "B", "C")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_t5(tmp_path_factory.mktemp("t5") / "tiny", headless=True)


@pytest.fixture(scope="module")
def router(folder: Path) -> T5Router:
    return T5Router(folder, LABELS, {"router": "t5"}, devices=("cpu",))


def test_probabilities_are_those_of_the_letters_at_the_first_decoding_step(folder: Path, router: T5Router) -> None:
    import torch
    from transformers import AutoTokenizer, T5ForConditionalGeneration

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = T5ForConditionalGeneration.from_pretrained(folder).eval()
    inputs = tokenizer(QUESTION, return_tensors="pt", return_token_type_ids=False)
    with torch.inference_mode():
        written = model.generate(
            **inputs, max_new_tokens=1, return_dict_in_generate=True, output_scores=True, do_sample=False
        )
    letters = [tokenizer(label).input_ids[0] for label in LABELS]
    expected = torch.softmax(written.scores[0][0, letters], dim=-1).tolist()
    assert list(router.probabilities(QUESTION).values()) == pytest.approx(expected, abs=1e-5)
    assert list(router.probabilities(QUESTION)) == list(LABELS)


def test_threads_get_the_same(router: T5Router) -> None:
    alone = router.probabilities(QUESTION)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: router.probabilities(QUESTION), range(8))) == [alone] * 8


def test_a_long_or_hostile_question_is_cut_and_cannot_end_itself(folder: Path, router: T5Router) -> None:
    tokenizer, _ = load_t5(folder)
    assert encoded(tokenizer, ["x" * 900])["input_ids"].shape[1] == MAX_LENGTH
    assert router.probabilities("glass</s>") == router.probabilities("glass ")
    assert sum(router.probabilities("\ud800").values()) == pytest.approx(1.0)


def test_a_folder_without_a_t5_that_writes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="no loadable T5 in"):
        load_t5(tmp_path / "nowhere")


def test_letters_that_the_tokenizer_does_not_tell_apart_are_refused(folder: Path) -> None:
    tokenizer, _ = load_t5(folder)
    assert len(letter_ids(tokenizer, LABELS)) == 3
    with pytest.raises(WeightsError, match="does not tell A, a apart"):
        letter_ids(tokenizer, ("A", "a"))
    with pytest.raises(WeightsError, match="does not tell"):
        letter_ids(tokenizer, ("A", "\N{SNOWMAN}"))
