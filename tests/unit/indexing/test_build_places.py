"""Two builders of one index, and indexes whose points lie outside their folder."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from arena.errors import ConfigError, IndexMismatchError
from arena.types import Document
from indexing.build import ensure_index
from indexing.engines.ranking import MEMORY, EngineSettings
from indexing.files import work_folder
from indexing.manifest import MANIFEST
from indexing.opening import Index
from indexing.verify import verify_index
from tests.indexes import build_index, index_folder, open_index
from tests.letter_embedder import LetterEmbedder
from tests.patience import PATIENCE_SECONDS
from tests.qdrant_server import QdrantServer, qdrant_server
from tests.samples import DOCUMENTS

OTHERS = [Document(f"e{number}", "", f"other text {number}") for number in range(5)]


class EmbeddedTwiceError(Exception):
    """Raised where a build was not to begin."""


def refuse(done: int, total: int | None, label: str) -> None:
    raise EmbeddedTwiceError


def collections(server: QdrantServer) -> int:
    return len(server.store.get_collections().collections)


def test_what_another_finished_in_between_is_opened(tmp_path: Path) -> None:
    """The loser of the race comes while the winner builds, finds nothing, and waits for it."""
    embedder = LetterEmbedder()
    folder = index_folder(tmp_path, DOCUMENTS, embedder)
    found: list[Index] = []
    waits = threading.Event()

    def lose() -> None:
        found.append(ensure_index(DOCUMENTS, embedder, tmp_path, progress=refuse, tell=lambda _: waits.set()))

    loser = threading.Thread(target=lose, daemon=True)

    def begin(done: int, total: int | None, label: str) -> None:
        if not waits.is_set():
            loser.start()
            assert waits.wait(timeout=PATIENCE_SECONDS)

    built = build_index(DOCUMENTS, embedder, folder, progress=begin)
    written = (folder / MANIFEST).stat().st_ino
    loser.join(timeout=PATIENCE_SECONDS)
    (index,) = found
    assert index.manifest == built
    assert (folder / MANIFEST).stat().st_ino == written
    assert not work_folder(folder).exists()
    index.close()


def test_each_server_keeps_its_own_index(tmp_path: Path) -> None:
    embedder = LetterEmbedder()
    with qdrant_server() as one, qdrant_server() as two:
        for server in (one, two, one):
            settings = EngineSettings("server", url=server.url)
            ensure_index(DOCUMENTS, embedder, tmp_path, engine=settings).close()
            folder = index_folder(tmp_path, DOCUMENTS, embedder, engine=settings)
            assert verify_index(folder, DOCUMENTS, embedder=embedder, engine=settings) == []
        assert (collections(one), collections(two)) == (1, 1)
    assert len(list(tmp_path.glob("index-*"))) == 2


def test_a_folder_is_named_by_the_place_and_never_by_the_key(tmp_path: Path) -> None:
    def name(**settings: str) -> str:
        engine = EngineSettings("server", **settings)  # type: ignore[arg-type]
        return index_folder(tmp_path, DOCUMENTS, LetterEmbedder(), engine=engine).name

    names = [name(), name(url="http://a"), name(url="http://b"), name(path=MEMORY), name(path="c")]
    assert len(set(names)) == len(names)
    assert all(other.startswith(f"{names[0]}-") for other in names[1:])
    assert name(url="http://a/", api_key="secret") == name(url="http://a")
    assert name(path=str(Path("c").resolve())) == name(path="c")


def test_a_replaced_index_leaves_no_collection(tmp_path: Path) -> None:
    with qdrant_server() as server:
        settings = EngineSettings("server", url=server.url)
        for documents in (DOCUMENTS, OTHERS):
            build_index(documents, LetterEmbedder(), tmp_path / "index", engine=settings)
        assert collections(server) == 1
        with pytest.raises(EmbeddedTwiceError):
            build_index(DOCUMENTS, LetterEmbedder(), tmp_path / "index", engine=settings, progress=refuse)
        assert collections(server) == 1
        open_index(tmp_path / "index", OTHERS, LetterEmbedder(), engine=settings).close()


def test_a_collection_out_of_reach_keeps_its_pointer(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    with qdrant_server() as server:
        settings = EngineSettings("server", url=server.url)
        build_index(DOCUMENTS, LetterEmbedder(), folder, engine=settings)
        work_folder(folder).mkdir()
        folder.rename(work_folder(folder) / "old")  # as a kill before the last step leaves it
    with pytest.raises(ConfigError, match=r"cannot remove the collection .*\.index\.building/old' points to it"):
        build_index(DOCUMENTS, LetterEmbedder(), folder, engine=settings)
    assert (work_folder(folder) / "old" / MANIFEST).is_file()
    with pytest.raises(IndexMismatchError, match="no index in"):
        open_index(folder, DOCUMENTS, LetterEmbedder(), engine=settings)
