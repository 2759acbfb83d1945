from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from arena.errors import WeightsError
from indexing.hub import COMPLETE, fetch_repository, is_hub_name, repository_commit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FILES = {
    "README.md": b"words",
    "config.json": b'{"width": 3}',
    "1_Pooling/config.json": b"{}",
    "model.safetensors": bytes(range(256)) * 200,
    "pytorch_model.bin": b"the same again",
    "2_Dense/pytorch_model.bin": b"no safetensors here",
    "onnx/model.onnx": b"another format",
    "onnx/config.json": b"{}",
}
WANTED = {"1_Pooling/config.json", "2_Dense/pytorch_model.bin", "config.json", "model.safetensors"}
CLOSED = "http://127.0.0.1:9"


class PretendedHub(BaseHTTPRequestHandler):
    """One repository, someone/model, whose branch main is at COMMIT."""

    asked: list[str]
    broken: set[str]

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.answer(body=True)

    def answer(self, *, body: bool) -> None:
        path = self.path.partition("?")[0]
        listing = {
            "id": "someone/model",
            "sha": COMMIT,
            "siblings": [{"rfilename": name, "size": len(data)} for name, data in FILES.items()],
        }
        pages = {f"/api/models/someone/model{at}": json.dumps(listing).encode() for at in ("", "/revision/main")}
        pages |= {f"/someone/model/resolve/{COMMIT}/{name}": data for name, data in FILES.items()}
        content = pages.get(path)
        if content is None or path.rpartition("/")[2] in self.broken:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{len(content)}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        if body:
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def serving(*broken: str) -> Iterator[tuple[str, list[str]]]:
    handler = type("Handler", (PretendedHub,), {"asked": [], "broken": set(broken)})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", handler.asked  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def placed(folder: Path) -> set[str]:
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in paths if not path.parts[0].startswith(".")}


def test_settings_and_weights_are_fetched_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    seen: list[tuple[int, int | None]] = []
    with serving() as (url, asked):
        folder = fetch_repository(
            "someone/model", None, tmp_path, lambda done, total, _: seen.append((done, total)), endpoint=url
        )
        asked.clear()
        assert fetch_repository("someone/model", None, tmp_path, endpoint=url) == folder
        assert asked == []
    assert placed(folder) == WANTED
    assert all((folder / path).read_bytes() == FILES[path] for path in WANTED)
    assert repository_commit(folder) == COMMIT
    size = sum(len(FILES[path]) for path in WANTED)
    assert (seen[0], seen[-1]) == ((0, size), (size, size))
    assert capfd.readouterr() == ("", "")


def test_what_has_arrived_is_not_fetched_again(tmp_path: Path) -> None:
    with serving("model.safetensors") as (url, _), pytest.raises(WeightsError, match="someone/model"):
        fetch_repository("someone/model", None, tmp_path, endpoint=url)
    with serving() as (url, asked):
        folder = fetch_repository("someone/model", None, tmp_path, endpoint=url)
    assert placed(folder) == WANTED
    assert not [path for path in asked if path.endswith("config.json")]


def test_another_revision_has_its_own_folder(tmp_path: Path) -> None:
    with serving() as (url, _):
        default = fetch_repository("someone/model", None, tmp_path, endpoint=url)
        assert fetch_repository("someone/model", "main", tmp_path, endpoint=url) == default
        with pytest.raises(WeightsError, match="at revision 'v2'"):
            fetch_repository("someone/model", "v2", tmp_path, endpoint=url)


def test_without_a_network_the_message_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(WeightsError) as failed:
        fetch_repository("someone/model", None, tmp_path, endpoint=CLOSED)
    assert "'someone/model'" in str(failed.value)
    assert "copy the repository's files into a folder and give that folder as the model" in str(failed.value)


def test_a_folder_from_elsewhere_has_no_commit(tmp_path: Path) -> None:
    assert repository_commit(tmp_path) is None


@pytest.mark.parametrize("mark", ["", "{", "[]", "{}", '{"commit": null}', '{"commit": ""}'])
def test_a_mark_that_cannot_be_read_counts_as_incomplete(tmp_path: Path, mark: str) -> None:
    with serving() as (url, asked):
        folder = fetch_repository("someone/model", None, tmp_path, endpoint=url)
        (folder / COMPLETE).write_text(mark)
        assert repository_commit(folder) is None
        asked.clear()
        assert fetch_repository("someone/model", None, tmp_path, endpoint=url) == folder
        assert asked
    assert repository_commit(folder) == COMMIT
    assert not list(folder.glob(f".{COMPLETE}.*"))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a/b", True),
        ("BAAI/bge-m3", True),
        ("b", False),
        ("a/b/c", False),
        ("./models", False),
        ("../models", False),
        ("~/models", False),
        ("/models", False),
    ],
)
def test_names_of_the_hub(name: str, expected: bool) -> None:
    assert is_hub_name(name) is expected


def test_a_path_into_a_folder_that_is_here_is_no_name_of_the_hub(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    with chdir(tmp_path):
        assert not is_hub_name("models/x")
        assert is_hub_name("others/x")
