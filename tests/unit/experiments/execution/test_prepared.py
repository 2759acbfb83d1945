"""What was prepared, perhaps in a folder that may only be read, is used; what is made goes to the cache alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.config import cache_folder
from indexing.build import ensure_index
from tests.indexes import index_folder
from tests.letter_embedder import LetterEmbedder
from tests.samples import DOCUMENTS


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ARENA_PREPARED", str(tmp_path / "prepared"))
    return tmp_path / "prepared"


def files(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files_are_found_in_the_cache_and_new_ones_stay_there(prepared: Path, tmp_path: Path) -> None:
    place = prepared / "weights" / "small" / "model.bin"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"w")
    (prepared / "weights" / ".small.lock").touch()
    root = cache_folder("weights")
    assert root == tmp_path / "cache" / "weights"
    assert (root / "small" / "model.bin").read_bytes() == b"w"
    assert not (root / ".small.lock").exists()
    (root / "small" / "stamp").write_text("of this cache")
    (cache_folder("weights") / "other").mkdir()
    assert [path.name for path in place.parent.iterdir()] == ["model.bin"]
    assert not (prepared / "weights" / "other").exists()


def test_a_prepared_index_is_opened_and_left_as_it_was(prepared: Path) -> None:
    ensure_index(DOCUMENTS, LetterEmbedder(), prepared / "indexes").close()
    before = files(prepared)

    class Refusing(LetterEmbedder):
        def embed_passages(self, texts):  # type: ignore[no-untyped-def]
            raise AssertionError("the index was prepared")

    ensure_index(DOCUMENTS, Refusing(), cache_folder("indexes")).close()
    assert files(prepared).keys() == before.keys()


def test_a_prepared_index_that_is_damaged_is_built_in_the_cache(prepared: Path) -> None:
    ensure_index(DOCUMENTS, LetterEmbedder(), prepared / "indexes").close()
    manifest = index_folder(prepared / "indexes", DOCUMENTS, LetterEmbedder()) / "manifest.json"
    manifest.write_text("{")
    ensure_index(DOCUMENTS, LetterEmbedder(), cache_folder("indexes")).close()
    assert manifest.read_text() == "{"
    assert not list(cache_folder("indexes").glob(".*.building"))


def test_without_one_there_is_just_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ARENA_PREPARED", str(tmp_path / "nowhere"))
    assert cache_folder("datasets") == tmp_path / "cache" / "datasets"
    assert not (tmp_path / "cache").exists()
