from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from arena.config.settings import EmbeddingConfig
from docs.build.seed_systems import write_tfidf
from indexing.embedding.sentence_transformer import SentenceTransformerEncoder

MANY_WORDS = " ".join(f"word{number}" for number in range(500))
TEXTS = ["the river Tarn the", "the river Ane", "the ship", "the old ship Selm", MANY_WORDS, *["the"] * 5]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> SentenceTransformerEncoder:
    folder = tmp_path_factory.mktemp("tfidf") / "encoder"
    write_tfidf(folder, TEXTS)
    return SentenceTransformerEncoder(folder, EmbeddingConfig(multivectors=True))


def test_a_text_is_its_words_weighed_by_how_rare_they_are(encoder: SentenceTransformerEncoder) -> None:
    """The commonest word counts for nothing, and one in a fifth of the texts less than one in a tenth."""
    tarn, ane, ship = encoder.passages(["the river Tarn", "River ANE", "the ship"]).dense
    shared, own = math.log(10 / 2), math.log(10)
    assert tarn @ ane == pytest.approx(shared**2 / (shared**2 + own**2), abs=0.01)
    assert tarn @ ship == pytest.approx(0.0, abs=0.01)
    rare, common = encoder.passages(["Tarn", "river"]).dense
    assert tarn @ rare > tarn @ common


def test_unknown_and_common_words_have_no_vector(encoder: SentenceTransformerEncoder) -> None:
    for text in ("", "the", "zither"):
        assert not np.any(encoder.passages([text]).dense)


def test_a_token_is_like_itself_alone(encoder: SentenceTransformerEncoder) -> None:
    (tokens,) = encoder.passages(["river Tarn"]).multi or ()
    framing, river, tarn, end = tokens
    assert river @ river == pytest.approx(1.0)
    assert abs(river @ tarn) < 0.01
    assert not np.any(framing)
    assert not np.any(end)


def test_the_same_texts_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_tfidf(tmp_path / name, TEXTS)
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert len(files) > 5
    assert all((tmp_path / "a" / one).read_bytes() == (tmp_path / "b" / one).read_bytes() for one in files)
