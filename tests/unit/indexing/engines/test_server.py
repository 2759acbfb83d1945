from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from arena.errors import ConfigError, IndexMismatchError, UnknownNameError
from arena.protocols import Embedding
from indexing.engines import Engine
from indexing.engines.ranking import EXACT_LIMIT, MEMORY, EngineSettings, Ranking
from indexing.engines.server import POINTER, ServerEngine
from tests.indexes import build_index, open_index
from tests.letter_embedder import LetterEmbedder
from tests.qdrant_server import qdrant_server
from tests.random_points import WIDTH, filled, random_embedding, random_queries, random_tokens
from tests.samples import DOCUMENTS


@pytest.fixture
def points() -> Embedding:
    rng = np.random.default_rng(3)
    plain = random_embedding(rng, 40, ties=True)
    return Embedding(plain.dense, plain.sparse, random_tokens(rng, 40))


def rankings(engine: Engine, points: Embedding) -> list[Ranking]:
    queries = random_queries(np.random.default_rng(4), points, 12, ties=True)
    return [
        *engine.dense(queries.dense, 5),
        *engine.hybrid(queries.dense, queries.sparse, depth=10, weights=(2.0, 1.0)),
        *engine.hybrid(queries.dense, queries.sparse, depth=10, fusion="dbsf"),
    ]


def order(found: Sequence[Ranking]) -> list[list[int]]:
    return [[one.position for one in ranking.best] for ranking in found]


def test_a_server_answers_as_local_mode_does(tmp_path: Path, points: Embedding) -> None:
    memory = filled("server", tmp_path / "memory", points)
    with qdrant_server() as server:
        settings = EngineSettings("server", url=server.url)
        filled("server", tmp_path / "url", points, settings=settings).close()
        engine = ServerEngine.load(tmp_path / "url", settings=settings)
        assert engine.count() == 40
        assert rankings(engine, points) == rankings(memory, points)
        assert points.multi is not None
        assert engine.maxsim(points.multi[0], [4, 2, 7]) == memory.maxsim(points.multi[0], [4, 2, 7])
        assert all(params is not None and params.exact for params in server.searches)
        engine.close()


def test_hnsw_is_asked_of_a_server_for_the_dense_lane_only(tmp_path: Path, points: Embedding) -> None:
    with qdrant_server() as server:
        settings = EngineSettings("server", url=server.url, search="hnsw", hnsw_m=8, hnsw_ef=77)
        server.indexed = [0, 25]
        engine = filled("server", tmp_path / "url", points, settings=settings)
        assert server.patches == [
            {
                "hnsw_config": {"m": 8, "ef_construct": 128, "full_scan_threshold": 10},
                "optimizers_config": {"indexing_threshold": 1},
            }
        ]
        assert server.indexed == []  # asked until the graph was whole
        engine.dense(points.dense[:1], 5)
        assert [params and params.hnsw_ef for params in server.searches] == [77]
        engine.hybrid(points.dense[1:2], points.sparse[1:2], depth=5)
        assert all(params and params.exact for params in server.searches[2:])
        assert engine.measure_recall(points.dense, 5) == 1.0
        engine.close()


def test_discarding_deletes_the_collection(tmp_path: Path, points: Embedding) -> None:
    with qdrant_server() as server:
        settings = EngineSettings("server", url=server.url)
        filled("server", tmp_path / "url", points, settings=settings).close()
        ServerEngine.discard(tmp_path / "url", settings=settings)
        assert server.store.get_collections().collections == []
        with pytest.raises(IndexMismatchError, match=rf"no collection 'arena-.*' at '{server.url}'.*arena index build"):
            ServerEngine.load(tmp_path / "url", settings=settings)


def test_a_large_slice_goes_in_several_requests(tmp_path: Path) -> None:
    """256 texts of 500 tokens would be one request of 100 MB."""
    tokens = tuple(np.full((100, 2_600), 0.1, dtype=np.float32) for _ in range(5))
    points = random_embedding(np.random.default_rng(1), 5, ties=False)
    with qdrant_server() as server:
        settings = EngineSettings("server", url=server.url)
        engine = ServerEngine.create(tmp_path / "url", WIDTH, multi_dimension=2_600, settings=settings)
        engine.add(range(5), Embedding(points.dense, points.sparse, tokens))
        assert engine.count() == 5
        engine.close()


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
def test_a_wrong_key_is_named_and_never_shown(tmp_path: Path) -> None:
    with qdrant_server(api_key="right") as server:
        for key, message in (
            (None, r"wants an API key and none was sent \(HTTP 401\): .*\$QDRANT_API_KEY"),
            ("wrong-secret", r"refuses the API key \(HTTP 401\): .*\$QDRANT_API_KEY"),
        ):
            settings = EngineSettings("server", url=server.url, api_key=key)
            with pytest.raises(ConfigError, match=message) as refused:
                ServerEngine.create(tmp_path / str(key), WIDTH, settings=settings)
            assert "wrong-secret" not in f"{refused.value} {settings}"
        right = EngineSettings("server", url=server.url, api_key="right")
        ServerEngine.create(tmp_path / "right", WIDTH, settings=right).close()


def test_an_unreachable_server_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        settings = EngineSettings("server", url=f"http://127.0.0.1:{taken.getsockname()[1]}")
        with pytest.raises(ConfigError, match=r"no Qdrant answers at 'http://127.*start the server or correct the URL"):
            ServerEngine.create(tmp_path / "url", WIDTH, settings=settings)
    with pytest.raises(ConfigError, match="a Qdrant url is no address: 'http://:::'; write"):
        ServerEngine.create(tmp_path / "no", WIDTH, settings=EngineSettings("server", url="http://:::"))


def test_a_server_that_is_no_qdrant_is_named(tmp_path: Path) -> None:
    with qdrant_server() as server:
        settings = EngineSettings("server", url=f"{server.url}/somewhere")
        with pytest.raises(ConfigError, match=r"Qdrant at .* cannot do this: .*404"):
            ServerEngine.create(tmp_path / "url", WIDTH, settings=settings)


def test_another_dimension_is_named_with_both_values(tmp_path: Path, points: Embedding) -> None:
    with qdrant_server() as server:
        settings = EngineSettings("server", url=server.url)
        filled("server", tmp_path / "url", points, settings=settings).close()
        pointer = json.loads((tmp_path / "url" / POINTER).read_text())
        pointer["shape"]["dimension"] = 384
        (tmp_path / "url" / POINTER).write_text(json.dumps(pointer))
        with pytest.raises(IndexMismatchError, match=f"vectors of {WIDTH} dimensions, the index has 384"):
            ServerEngine.load(tmp_path / "url", settings=settings)


@pytest.mark.parametrize("inside", [True, False])
def test_local_mode_keeps_its_points(tmp_path: Path, points: Embedding, inside: bool) -> None:
    settings = EngineSettings("server", path=None if inside else str(tmp_path / "elsewhere"))
    engine = filled("server", tmp_path / "index", points, settings=settings)
    before = order(rankings(engine, points))
    engine.close()
    (tmp_path / "index").rename(tmp_path / "moved")
    loaded = ServerEngine.load(tmp_path / "moved", settings=settings)
    assert order(rankings(loaded, points)) == before  # scores differ in their last bits: numpy sees another layout
    loaded.close()


def test_memory_lasts_as_long_as_the_process(tmp_path: Path, points: Embedding) -> None:
    settings = EngineSettings("server", path=MEMORY)
    engine = filled("server", tmp_path / "index", points, settings=settings)
    before = order(rankings(engine, points))
    engine.close()
    assert order(rankings(ServerEngine.load(tmp_path / "index", settings=settings), points)) == before
    ServerEngine.discard(tmp_path / "index", settings=settings)
    with pytest.raises(IndexMismatchError, match=r"no collection 'arena-.*' in memory"):
        ServerEngine.load(tmp_path / "index", settings=settings)


@pytest.mark.parametrize("content", [None, b"", b"{}", b"[]", b'{"collection": "x", "shape": {"width": 3}}'])
def test_a_folder_without_a_collection_is_an_os_error(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / POINTER).write_bytes(content)
    with pytest.raises(OSError, match=r"collection\.json"):
        ServerEngine.load(tmp_path)


def test_local_mode_in_a_second_process_is_refused_with_a_way_out(tmp_path: Path, points: Embedding) -> None:
    engine = filled("server", tmp_path / "index", points, settings=EngineSettings("server"))
    script = (
        "import sys; from pathlib import Path; from indexing.engines.server import ServerEngine\n"
        "from arena.errors import ConfigError\n"
        "try: ServerEngine.load(Path(sys.argv[1]))\n"
        "except ConfigError as error: print(error)"
    )
    other = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "index")],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[4],
    )
    assert "only one process at a time" in other.stdout
    engine.close()


def test_an_index_is_built_and_opened_in_local_mode(tmp_path: Path) -> None:
    embedder = LetterEmbedder()
    build_index(DOCUMENTS, embedder, tmp_path / "edge")
    build_index(DOCUMENTS, embedder, tmp_path / "server", engine="server")
    queries = embedder.embed_queries(["river", "the town of the school", "glass"])
    found = []
    for name in ("edge", "server"):
        with open_index(tmp_path / name, DOCUMENTS, embedder, engine=name) as index:
            found.append(order(index.engine.hybrid(queries.dense, queries.sparse, depth=4)))
    assert found[0] == found[1]


def test_settings_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'server'"):
        EngineSettings("serve")
    with pytest.raises(UnknownNameError, match="did you mean 'exact'"):
        EngineSettings(search="exat")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="for engine 'server', not 'edge'"):
        EngineSettings(url="http://127.0.0.1:6333")
    with pytest.raises(ConfigError, match="both url 'http://a' and path 'b' are set"):
        EngineSettings("server", url="http://a", path="b")
    with pytest.raises(ConfigError, match="hnsw_m must be at least 1, not 0"):
        EngineSettings(hnsw_m=0)


def test_search_is_exact_up_to_a_limit_and_part_of_the_identity() -> None:
    assert EngineSettings().identity(EXACT_LIMIT) == EngineSettings(search="exact", hnsw_m=4).identity(10**6)
    assert EngineSettings().identity(EXACT_LIMIT + 1) == EngineSettings(search="hnsw").identity(5)
    assert EngineSettings(search="hnsw", hnsw_m=8).identity(5) != EngineSettings(search="hnsw").identity(5)
    keyed = EngineSettings("server", url="http://a", api_key="secret")
    assert keyed.identity(5) == EngineSettings().identity(5)
