from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from arena.protocols import Embedding
from experiments.studies.router.data import Example
from experiments.studies.router.training import LightTrainer
from strategies.adaptive import Label
from tests.letter_embedder import LetterEmbedder


def example(text: str, label: Label, weight: float = 1.0) -> Example:
    return Example(text, text, label, "silver", 0, weight)


THREE = [
    *(example(f"zz{letter}", "A") for letter in "abcdef"),
    *(example(f"who made {letter}", "B") for letter in "abcdef"),
    *(example(f"who made the thing that {letter} was given to by it", "C") for letter in "abcdef"),
]


class Counting(LetterEmbedder):
    """Notes every text it embeds."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_queries(self, texts: Sequence[str]) -> Embedding:
        self.asked += texts
        return super().embed_queries(texts)


def test_three_labels_are_learned() -> None:
    trained = LightTrainer(LetterEmbedder()).fit(THREE)
    shares = trained.probabilities(["zzq", "who made q", "who made the thing that q was given to by it"])
    assert shares.argmax(axis=1).tolist() == [0, 1, 2]
    assert shares.sum(axis=1) == pytest.approx(1.0)


def test_it_is_scikit_learns_own_regression() -> None:
    from sklearn.linear_model import LogisticRegression

    trained = LightTrainer(LetterEmbedder()).fit(THREE)
    texts = [one.text for one in THREE]
    lengths = np.log1p([len(text) for text in texts])
    scaled = ((lengths - lengths.mean()) / lengths.std())[:, np.newaxis]
    features = np.hstack([LetterEmbedder().embed_queries(texts).dense, scaled])
    model = LogisticRegression(max_iter=2000).fit(features, [one.label for one in THREE])
    assert trained.probabilities(texts) == pytest.approx(model.predict_proba(features), abs=1e-6)


@pytest.mark.parametrize("labels", ["AB", "AC", "BC"])
def test_a_label_that_no_example_has_gets_nothing(labels: str) -> None:
    from sklearn.linear_model import LogisticRegression

    some = [one for one in THREE if one.label in labels]
    trained = LightTrainer(LetterEmbedder()).fit(some)
    shares = trained.probabilities([one.text for one in some])
    (missing,) = [place for place, label in enumerate("ABC") if label not in labels]
    assert (shares[:, missing] == 0.0).all()
    given = ["ABC"[place] for place in shares.argmax(axis=1)]
    assert given == [one.label for one in some]
    assert trained.facts["C"] == LogisticRegression().C


def test_a_single_label_is_certain() -> None:
    assert LightTrainer(LetterEmbedder()).fit(THREE[:3]).probabilities(["anything"]).tolist() == [[1.0, 0.0, 0.0]]


def test_a_heavier_label_is_given_more() -> None:
    heavy = [example(one.text, one.label, 5.0 if one.label == "B" else 1.0) for one in THREE]
    trainer = LightTrainer(LetterEmbedder())
    plain, tilted = (trainer.fit(some).probabilities(["middling question"])[0, 1] for some in (THREE, heavy))
    assert tilted > plain


def test_the_same_examples_give_the_same_bytes(tmp_path: Path) -> None:
    written = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        LightTrainer(LetterEmbedder()).fit(THREE).save(tmp_path / name)
        written.append((tmp_path / name / "weights.safetensors").read_bytes())
    assert written[0] == written[1]


def test_a_question_is_embedded_once() -> None:
    embedder = Counting()
    trainer = LightTrainer(embedder)
    trainer.fit(THREE)
    trainer.fit(THREE[3:]).probabilities([one.text for one in THREE])
    assert sorted(embedder.asked) == sorted(one.text for one in THREE)
