from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.protocols import Embedding, SparseVector
from indexing.spool import Spool

FLOATS = st.floats(2**-20, 2**20, allow_nan=False)
VECTORS = st.dictionaries(st.integers(0, 2**32 - 1), FLOATS, max_size=5).map(
    lambda terms: SparseVector(tuple(terms), tuple(terms.values()))
)


def embedding(sparse: list[SparseVector], *, multi: bool = False) -> Embedding:
    rng = np.random.default_rng(len(sparse))
    tokens = tuple(rng.standard_normal((n % 3, 2)).astype(np.float32) for n in range(len(sparse)))
    return Embedding(rng.standard_normal((len(sparse), 3)).astype(np.float32), tuple(sparse), tokens if multi else None)


def equal(one: Embedding, other: Embedding) -> bool:
    assert (one.multi is None) == (other.multi is None)
    matrices = zip(one.multi or (), other.multi or (), strict=True)
    return (
        np.array_equal(one.dense, other.dense)
        and one.dense.dtype == other.dense.dtype
        and one.sparse == other.sparse
        and all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in matrices)
    )


@given(st.lists(VECTORS, min_size=1, max_size=6), st.booleans())
def test_a_batch_comes_back_bit_for_bit(
    tmp_path_factory: pytest.TempPathFactory, sparse: list[SparseVector], multi: bool
) -> None:
    folder = tmp_path_factory.mktemp("spool")
    kept = embedding(sparse, multi=multi)
    positions = list(range(len(sparse)))[::-1]
    Spool(folder, "a").keep(positions, kept)
    ((found, read),) = Spool(folder, "a").batches()
    assert found == positions
    assert equal(read, kept)


def test_batches_gather_over_several_runs(tmp_path: Path) -> None:
    for at in range(3):
        Spool(tmp_path, "a").keep([at], embedding([SparseVector((at,), (1.0,))]))
    spool = Spool(tmp_path, "a")
    assert [positions for positions, _ in spool.batches()] == [[0], [1], [2]]
    assert len(spool) == 3


def test_another_identity_starts_over(tmp_path: Path) -> None:
    Spool(tmp_path, "a").keep([0], embedding([SparseVector((), ())]))
    assert list(Spool(tmp_path, "b").batches()) == []
    assert list(Spool(tmp_path, "a").batches()) == []


@pytest.mark.parametrize("how", ["flipped", "cut", "empty"])
def test_a_damaged_batch_is_dropped(tmp_path: Path, how: str) -> None:
    spool = Spool(tmp_path, "a")
    for at in range(2):
        spool.keep([at], embedding([SparseVector((), ())]))
    file = min(tmp_path.glob("*.batch"))
    content = bytearray(file.read_bytes())
    content[100] ^= 1
    file.write_bytes({"flipped": bytes(content), "cut": bytes(content[:-1]), "empty": b""}[how])
    assert [positions for positions, _ in Spool(tmp_path, "a").batches()] == [[1]]
    assert not file.exists()


def test_a_batch_whose_writing_was_cut_off_is_not_there(tmp_path: Path) -> None:
    spool = Spool(tmp_path, "a")
    (tmp_path / "00000000.part").write_bytes(b"half")
    assert list(spool.batches()) == []
    spool.keep([0], embedding([SparseVector((), ())]))
    assert len(spool) == 1
