from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from arena.config.settings import EmbeddingConfig
from arena.errors import ConfigError, WeightsError
from arena.protocols import SparseVector
from indexing.embedding.cache import FORMAT, CachedEncoder, EmbeddingCache, Kept, pack, unpack
from indexing.embedding.embedder import ENCODING, Encoded
from indexing.embedding.opening import open_embedder
from tests.counting_encoder import CountingEncoder
from tests.indexes import MiniLMEmbedder
from tests.patience import PATIENCE_SECONDS

ROOT = Path(__file__).parents[4]
TEXTS = [f"text {number}" for number in range(10)]


class InterruptedEmbeddingError(Exception):
    """Stands for whatever stops an embedding."""


class Stopping(CountingEncoder):
    """Breaks in its third batch."""

    def passages(self, texts: Sequence[str]) -> Encoded:
        if len(self.asked) == 2:
            raise InterruptedEmbeddingError
        return super().passages(texts)


def cached(root: Path, encoder: CountingEncoder | None = None) -> tuple[CachedEncoder, CountingEncoder]:
    encoder = encoder or CountingEncoder()
    return CachedEncoder(encoder, root), encoder


def same(one: Encoded, other: Encoded) -> None:
    assert np.array_equal(one.dense, other.dense)
    assert one.lexical == other.lexical
    assert (one.multi is None) == (other.multi is None)
    for mine, theirs in zip(one.multi or (), other.multi or (), strict=True):
        assert np.array_equal(mine, theirs)


def test_what_was_embedded_comes_back_to_the_bit(tmp_path: Path) -> None:
    for multi in (False, True):
        first, _ = cached(tmp_path, CountingEncoder(multi=multi))
        cold = first.passages([*TEXTS, ""])
        same(cold, CountingEncoder(multi=multi).passages([*TEXTS, ""]))
        second, encoder = cached(tmp_path, CountingEncoder(multi=multi))
        same(second.passages([*TEXTS, ""]), cold)
        assert encoder.asked == []


def test_only_what_is_new_is_embedded_longest_first_in_batches(tmp_path: Path) -> None:
    cached(tmp_path)[0].passages(TEXTS[:5])
    second, encoder = cached(tmp_path)
    second.passages([*TEXTS, "a longer text", TEXTS[9]])
    assert encoder.asked == [["a longer text", *TEXTS[5:8]], TEXTS[8:]]


def test_every_batch_is_kept(tmp_path: Path) -> None:
    first, _ = cached(tmp_path, Stopping())
    with pytest.raises(InterruptedEmbeddingError):
        first.passages(TEXTS)
    second, encoder = cached(tmp_path)
    second.passages(TEXTS)
    assert encoder.asked == [TEXTS[8:]]


class Broken(CountingEncoder):
    """Gives no number for one text."""

    def passages(self, texts: Sequence[str]) -> Encoded:
        encoded = super().passages(texts)
        encoded.dense[[text == TEXTS[7] for text in texts]] = np.nan
        return encoded


def test_numbers_that_are_none_are_named_and_not_kept(tmp_path: Path) -> None:
    first, _ = cached(tmp_path, Broken())
    with pytest.raises(WeightsError, match=r"'counting' yields numbers that are not finite .* for 'text 7'"):
        first.passages(TEXTS)
    with pytest.raises(WeightsError, match="for 'text 7'"):
        first.queries([TEXTS[7]])
    mended, encoder = cached(tmp_path)
    same(mended.passages(TEXTS), CountingEncoder().passages(TEXTS))
    same(mended.queries([TEXTS[7]]).encoded, CountingEncoder().passages([TEXTS[7]]))
    assert encoder.asked == [TEXTS[4:8], TEXTS[8:], [TEXTS[7]]]


def test_another_identity_shares_nothing(tmp_path: Path) -> None:
    cached(tmp_path)[0].passages(TEXTS)
    second, encoder = cached(tmp_path, CountingEncoder(model="another"))
    second.passages(TEXTS[:2])
    assert encoder.asked == [TEXTS[:2]]
    assert len(list(tmp_path.glob("*.sqlite"))) == 2


def test_vectors_of_another_version_of_the_code_are_not_taken(tmp_path: Path) -> None:
    identity: dict[str, str | int] = {"model": "counting"}
    older: list[dict[str, str | int]] = [{"encoding": 0}, {"format": 0}]
    paths = {EmbeddingCache(tmp_path, identity | change).path for change in ({}, *older)}
    assert len(paths) == 3
    assert EmbeddingCache(tmp_path, identity | {"encoding": ENCODING, "format": FORMAT}).path in paths


def test_a_query_is_no_passage(tmp_path: Path) -> None:
    cached(tmp_path)[0].passages(TEXTS[:1])
    second, encoder = cached(tmp_path)
    second.queries(TEXTS[:1])
    assert encoder.asked == [TEXTS[:1]]


def test_a_known_query_says_what_it_took(tmp_path: Path) -> None:
    first = cached(tmp_path)[0].queries(["four", "sixsix"])
    assert (first.seconds, first.known) == ((4.0, 6.0), (False, False))
    second, encoder = cached(tmp_path)
    again = second.queries(["sixsix", "one", "four", "four"])
    assert (again.seconds, again.known) == ((6.0, 3.0, 4.0, 4.0), (True, False, True, True))
    assert encoder.asked == [["one"]]


def test_a_time_holds_for_its_device_only(tmp_path: Path) -> None:
    cached(tmp_path)[0].queries(["four"])
    assert cached(tmp_path, CountingEncoder(device="cuda:0"))[0].queries(["four"]).known == (False,)
    assert cached(tmp_path, CountingEncoder(device="cuda:1,cuda:0"))[0].queries(["four"]).known == (True,)


def test_nothing_to_embed(tmp_path: Path) -> None:
    encoder, _ = cached(tmp_path)
    assert encoder.passages([]).dense.shape == (0, 3)
    assert encoder.queries([]).seconds == ()


def alter(root: Path, change: Callable[[bytes], bytes]) -> None:
    """Change every payload in the one file under `root`."""
    (file,) = root.glob("*.sqlite")
    connection = sqlite3.connect(file)
    with connection:
        rows = connection.execute("SELECT key, payload FROM vectors").fetchall()
        connection.executemany("UPDATE vectors SET payload = ? WHERE key = ?", [(change(p), k) for k, p in rows])
    connection.close()


@pytest.mark.parametrize(
    "change",
    [lambda payload: payload[:-1], lambda payload: payload[:30] + b"!" + payload[31:], lambda payload: b""],
    ids=["cut", "flipped", "emptied"],
)
def test_a_damaged_entry_is_embedded_again(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    first, _ = cached(tmp_path)
    cold = first.passages(TEXTS[:2])
    first.close()
    alter(tmp_path, change)
    second, encoder = cached(tmp_path)
    same(second.passages(TEXTS[:2]), cold)
    assert encoder.asked == [TEXTS[:2]]
    third, encoder = cached(tmp_path)
    same(third.passages(TEXTS[:2]), cold)
    assert encoder.asked == []


@pytest.mark.parametrize("content", [b"this is no database at all " * 1000, b"SQLite format 3\0" + b"\xff" * 40000])
def test_a_damaged_file_is_made_anew(tmp_path: Path, content: bytes) -> None:
    first, _ = cached(tmp_path)
    cold = first.passages(TEXTS)
    first.close()
    (file,) = tmp_path.glob("*.sqlite")
    file.write_bytes(content)
    second, encoder = cached(tmp_path)
    same(second.passages(TEXTS), cold)
    assert [text for batch in encoder.asked for text in batch] == TEXTS
    same(cached(tmp_path)[0].passages(TEXTS), cold)


def test_pages_that_break_under_an_open_cache_are_made_anew(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(3000)]
    first, _ = cached(tmp_path, CountingEncoder(batch_texts=3000))
    cold = first.passages(texts)
    first.close()
    (file,) = tmp_path.glob("*.sqlite")
    content = bytearray(file.read_bytes())
    content[4 * 16384 :] = b"\xaa" * (len(content) - 4 * 16384)
    file.write_bytes(content)
    same(cached(tmp_path, CountingEncoder(batch_texts=3000))[0].passages(texts), cold)


def test_a_file_in_the_way_is_a_message(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(ConfigError, match="cannot use the embedding cache"):
        cached(tmp_path / "cache")


EMBED = """
import sys, time
from pathlib import Path
from indexing.embedding.cache import CachedEncoder
from tests.counting_encoder import CountingEncoder

class Slow(CountingEncoder):
    def passages(self, texts):
        print(len(self.asked), flush=True)
        time.sleep(float(sys.argv[2]))
        return super().passages(texts)

texts = [f"text {number:03}" for number in range(200)]
CachedEncoder(Slow(batch_texts=10), Path(sys.argv[1])).passages(texts)
"""


def embed(root: Path, pause: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", EMBED, str(root), str(pause)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def test_a_kill_costs_at_most_one_batch(tmp_path: Path) -> None:
    texts = [f"text {number:03}" for number in range(200)]
    begun = 0
    for stop in (1, 4, 9):
        with embed(tmp_path, 0.02) as process:
            assert process.stdout is not None
            for _ in range(stop):
                assert process.stdout.readline()
            process.kill()
            begun += stop + len(process.stdout.readlines())
    encoder, inner = cached(tmp_path, CountingEncoder(batch_texts=10))
    same(encoder.passages(texts), CountingEncoder().passages(texts))
    assert begun + len(inner.asked) <= 20 + 3


def test_two_processes_embed_at_once(tmp_path: Path) -> None:
    processes = [embed(tmp_path, 0.002) for _ in range(2)]
    for process in processes:
        process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 0
    texts = [f"text {number:03}" for number in range(200)]
    encoder, inner = cached(tmp_path)
    same(encoder.passages(texts), CountingEncoder().passages(texts))
    assert inner.asked == []


numbers = arrays(np.float32, st.integers(1, 6), elements=st.floats(width=32, allow_nan=False))
terms = st.dictionaries(st.integers(0, 250_001), st.floats(2**-30, 1e6, width=32), max_size=5)
matrices = st.integers(0, 3).flatmap(
    lambda rows: arrays(np.float32, (rows, 2), elements=st.floats(width=32, allow_nan=False))
)


@given(numbers, st.none() | terms, st.none() | matrices, st.floats(0, 1e9), st.binary(min_size=32, max_size=32))
def test_an_entry_survives_its_bytes(
    dense: np.ndarray, lexical: dict[int, float] | None, multi: np.ndarray | None, seconds: float, key: bytes
) -> None:
    vector = None if lexical is None else SparseVector(tuple(lexical), tuple(lexical.values()))
    payload = pack(Kept(dense, vector, multi, seconds), key)
    back = unpack(payload, key)
    assert back is not None
    assert np.array_equal(back.dense, dense)
    assert back.lexical == vector
    assert back.seconds == seconds
    assert (back.multi is None) == (multi is None)
    assert multi is None or back.multi is None or np.array_equal(back.multi, multi)
    assert unpack(payload, b"another key") is None
    assert unpack(payload[: len(payload) // 2], key) is None


def test_an_entry_is_little_more_than_its_numbers() -> None:
    payload = pack(Kept(np.zeros(1024, np.float32), SparseVector(tuple(range(90)), (0.5,) * 90)), b"key")
    assert len(payload) <= 4 * 1024 + 8 * 90 + 32


def test_a_cached_embedder_embeds_like_the_bare_one(
    embedder: MiniLMEmbedder, tiny_folder: Path, tmp_path: Path
) -> None:
    settings = EmbeddingConfig(model=str(tiny_folder), devices=("cpu",))
    texts = ["a ship", "the river that rises near the hill town", "of the", ""]
    expected, queries = embedder.fitted(texts).embed_passages(texts), embedder.embed_queries(texts)
    for _ in range(2):
        kept = open_embedder(settings, tmp_path / "weights", cache_root=tmp_path / "cache")
        assert kept.identity == embedder.identity
        embedded = kept.fitted(texts).embed_passages(texts)
        np.testing.assert_allclose(embedded.dense, expected.dense, atol=1e-5)
        assert embedded.sparse == expected.sparse
        assert np.array_equal(kept.embed_queries(texts).dense, queries.dense)


def test_the_average_length_of_a_corpus_is_not_kept(tiny_folder: Path, tmp_path: Path) -> None:
    kept = open_embedder(
        EmbeddingConfig(model=str(tiny_folder), devices=("cpu",)), tmp_path, cache_root=tmp_path / "cache"
    )
    texts = ["old ship", "old harbour at the river near the town"]
    alone = kept.fitted(texts[:1]).embed_passages(texts[:1])
    among = kept.fitted(texts).embed_passages(texts[:1])
    assert np.array_equal(alone.dense, among.dense)
    assert alone.sparse[0].values != among.sparse[0].values


def test_an_open_cache_is_for_several_threads(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    cache = EmbeddingCache(tmp_path, {"model": "m"})
    entries = {text: Kept(np.full(3, number, np.float32)) for number, text in enumerate(TEXTS)}
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda text: cache.put("passage", {text: entries[text]}), TEXTS * 3))
        found = list(pool.map(lambda text: cache.get("passage", [text])[text], TEXTS))
    assert [int(kept.dense[0]) for kept in found] == list(range(10))
    cache.close()
