from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import numpy as np
import pytest

from arena.errors import WeightsError
from indexing.routing.routers import WEIGHTS, LightRouter, LightWeights, log_lengths, question_features, read_light
from tests.letter_embedder import LetterEmbedder

LABELS = ("A", "B", "C")
WIDTH = LetterEmbedder.dimension


def weights(**changes: np.ndarray) -> LightWeights:
    """Longer is C, shorter is B, and A is never."""
    coefficients = np.zeros((3, WIDTH + 1))
    coefficients[1, -1], coefficients[2, -1] = -2.0, 2.0
    fields = {
        "coefficients": coefficients,
        "intercepts": np.array([-np.inf, 0.0, 0.0]),
        "length": np.array([math.log1p(10), 0.5]),
    }
    return LightWeights(**(fields | changes))


def router(found: LightWeights) -> LightRouter:
    return LightRouter(found, LABELS, {"router": "x"}, LetterEmbedder())


def test_probabilities_are_a_softmax_over_the_labels() -> None:
    shares = router(weights()).probabilities("x" * 10)
    assert shares == pytest.approx({"A": 0.0, "B": 0.5, "C": 0.5})
    longer = router(weights()).probabilities("x" * 20)
    z = (math.log1p(20) - math.log1p(10)) / 0.5
    assert longer["C"] == pytest.approx(1 / (1 + math.exp(-4 * z)))
    assert sum(longer.values()) == pytest.approx(1.0)


def test_the_embedding_decides_too() -> None:
    coefficients = np.zeros((3, WIDTH + 1))
    coefficients[0, 25] = 9.0  # the letter z
    found = router(weights(coefficients=coefficients, intercepts=np.zeros(3)))
    assert found.probabilities("zzz")["A"] > 0.9
    assert found.probabilities("aaa")["A"] == pytest.approx(1 / 3)


def test_lengths_far_from_those_of_training_say_no_more_than_three_deviations() -> None:
    dense = np.zeros((2, 1), np.float32)
    features = question_features(dense, ["", "x" * 10_000], float(log_lengths(["x" * 10])[0]), 0.1)
    assert features[:, 1].tolist() == [-3.0, 3.0]


def test_what_is_saved_is_what_is_read(tmp_path: Path) -> None:
    weights().save(tmp_path)
    found = read_light(tmp_path, 3, WIDTH)
    assert found.intercepts[0] == -np.inf
    assert router(found).probabilities("who?") == router(weights()).probabilities("who?")
    weights().save(tmp_path)
    assert (tmp_path / WEIGHTS).read_bytes()[:1] != b"\x80"  # no pickle


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "cannot read the router's weights"), (b"nonsense", "cannot read"), (b"", "cannot read")],
)
def test_weights_that_cannot_be_read_are_named(tmp_path: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / WEIGHTS).write_bytes(content)
    with pytest.raises(WeightsError, match=message):
        read_light(tmp_path, 3, WIDTH)


def test_weights_of_another_width_are_refused(tmp_path: Path) -> None:
    weights().save(tmp_path)
    with pytest.raises(WeightsError, match=r"not those of 3 labels over vectors of 384"):
        read_light(tmp_path, 3, 384)


def test_several_threads_get_the_same_and_share_the_lock_of_the_models() -> None:
    lock = Lock()
    shared = LightRouter(weights(), LABELS, {}, LetterEmbedder(), lock)
    alone = shared.probabilities("who governs?")
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: shared.probabilities("who governs?"), range(16))) == [alone] * 16
        lock.acquire()
        waiting = pool.submit(shared.probabilities, "who?")
        assert not waiting.done()
        lock.release()
        assert waiting.result(10)["A"] == 0.0


def test_half_characters_and_empty_questions_have_probabilities() -> None:
    for text in ("", "\ud800", "?"):
        assert sum(router(weights()).probabilities(text).values()) == pytest.approx(1.0)
