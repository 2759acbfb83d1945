"""Each mistake a user can make: its own message, exit code 2, no traceback, nothing half-written."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.conftest import Arena, Done

Damage = Callable[[Path], object]


def refuse(done: Done, *parts: str) -> None:
    assert done.code == 2, done
    assert "Traceback" not in done.err + done.out
    for part in parts:
        assert part in done.err, done.err


def append(name: str, text: str) -> Damage:
    def damage(folder: Path) -> None:
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write(text)

    return damage


def question(**fields: object) -> str:
    whole = {"question_id": "q9", "question": "Who?", "answers": ["x"], "supporting_ids": ["d1"]}
    return json.dumps({key: value for key, value in (whole | fields).items() if value is not None}) + "\n"


@pytest.mark.parametrize(
    ("damage", "parts"),
    [
        (append("questions.jsonl", "{not json\n"), ("questions.jsonl:6",)),
        (append("questions.jsonl", question(question=None)), ("questions.jsonl:6", "'question'")),
        (append("questions.jsonl", question(question_id="q1")), ("'q1'", "questions.jsonl:6")),
        (append("questions.jsonl", question(supporting_ids=["nowhere"])), ("'nowhere'", "questions.jsonl:6")),
        (append("questions.jsonl", question(kind="multihop")), ("'multihop'", "did you mean 'multi_hop'")),
        (append("corpus.jsonl", '{"doc_id": "d1", "title": "", "text": "again"}\n'), ("'d1'", "corpus.jsonl:5")),
        (append("corpus.jsonl", '{"doc_id": "d9", "title": "no text"}\n'), ("corpus.jsonl:5", "'text'")),
        (lambda folder: (folder / "corpus.jsonl").write_text(""), ("corpus.jsonl", "corpus is empty")),
        (lambda folder: (folder / "questions.jsonl").write_text("\n\n"), ("questions.jsonl", "no questions")),
        (lambda folder: (folder / "corpus.jsonl").unlink(), ("corpus.jsonl",)),
        (lambda folder: (folder / "corpus.jsonl").write_bytes(b'{"doc_id": "\xff"}\n'), ("corpus.jsonl", "UTF-8")),
    ],
)
def test_damaged_data(
    arena: Arena, study: Path, jsonl_folder: Path, tmp_path: Path, damage: Damage, parts: tuple[str, ...]
) -> None:
    damage(jsonl_folder)
    refuse(arena("run", study, "--run-id", "r1"), *parts)
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--dataset", "jsonl:/no/such/folder"], ("/no/such/folder",)),
        (["--dataset", "musique:/no/such/file.jsonl"], ("/no/such/file.jsonl",)),
        (["--dataset", "musique:/tmp"], ("/tmp", "folder")),
        (["--dataset", "musique"], ("musique:",)),
        (["--dataset", "wrold"], ("'wrold'", "did you mean 'world'")),
        (["--dataset", "world:five:7"], ("five",)),
        (["--dataset", "world:3:7"], ("3",)),
        (["--strategies", "vanila"], ("'vanila'", "did you mean 'vanilla'")),
        (["--strategies", ""], ("strategies is empty",)),
        (["--strategies", "vanilla,self_rag:options=[yes, no]"], ("'self_rag:options=[yes, no]'", "closed_set")),
        (["--modes", "hybird"], ("'hybird'", "did you mean 'hybrid'")),
        (["--llm", "opnai:gpt"], ("'opnai'", "did you mean 'openai'")),
        (["--llm", "gpt-x"], ("'gpt-x'", "PROVIDER:NAME")),
        (["--llm", "local:smolm2-135m"], ("'smolm2-135m'", "did you mean 'smollm2-135m'")),
        (["--llm", "local:/no/such/model.gguf"], ("/no/such/model.gguf",)),
        (["--llm", "openai:gpt-x"], ("OPENAI_API_KEY",)),
        (["--llm", "fake:/no/such/script.yaml"], ("/no/such/script.yaml",)),
        (["--runs-dir", "/proc/arena"], ("/proc/arena", "--runs-dir")),
    ],
)
def test_wrong_names_and_places(arena: Arena, study: Path, options: list[str], parts: tuple[str, ...]) -> None:
    refuse(arena("run", study, *options), *parts)


def test_a_config_that_is_not_there(arena: Arena) -> None:
    refuse(arena("run", "no-such.yaml"), "'no-such.yaml'")


def test_an_unknown_setting(arena: Arena, study: Path) -> None:
    study.write_text(study.read_text() + "stratgies: [vanilla]\n")
    refuse(arena("run", study), "unknown setting 'stratgies'", "did you mean 'strategies'")


def test_a_model_server_that_does_not_answer(arena: Arena, study: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    url = f"http://127.0.0.1:{port}/v1"
    done = arena("run", study, "--strategies", "vanilla", "--llm", "openai:m", "--base-url", url)
    refuse(done, url)
    assert not (tmp_path / "runs").exists()


def test_a_run_id_used_twice(arena: Arena, study: Path) -> None:
    arena("run", study, "--run-id", "r1", "--strategies", "retrieval_only")
    refuse(arena("run", study, "--run-id", "r1"), "--resume --run-id r1")


def test_resuming_where_there_is_nothing(arena: Arena, tmp_path: Path) -> None:
    refuse(arena("run", "--resume", "--runs-dir", tmp_path), "no unfinished run")
    refuse(arena("run", "--resume", "--run-id", "r1", "--runs-dir", tmp_path), "no run in")


def test_resuming_with_a_config_file(arena: Arena, study: Path) -> None:
    refuse(arena("run", study, "--resume"), "leave the file out")


def test_weights_of_an_unknown_name(arena: Arena) -> None:
    refuse(arena("models", "fetch", "minilm"), "'minilm'", "all-minilm-l6-v2")


def test_an_embedder_folder_that_is_none(arena: Arena, study: Path, tmp_path: Path) -> None:
    text = study.read_text().splitlines()
    study.write_text(
        "\n".join(f"embedding: {{model: {tmp_path}}}" if line.startswith("embedding") else line for line in text)
    )
    refuse(arena("run", study), str(tmp_path))


@pytest.mark.parametrize(
    ("sizes", "parts"),
    [(["--documents", "20", "--questions", "60"], ("20", "60")), (["--documents", "0"], ("documents",))],
)
def test_a_world_that_cannot_be(arena: Arena, tmp_path: Path, sizes: list[str], parts: tuple[str, ...]) -> None:
    refuse(arena("datasets", "make-world", "--out", tmp_path / "w", *sizes), *parts)
    assert not (tmp_path / "w").exists()


def test_a_world_over_other_data(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "mine.txt").write_text("precious")
    refuse(arena("datasets", "make-world", "--out", tmp_path / "w"), str(tmp_path / "w"))
    assert (tmp_path / "w" / "mine.txt").read_text() == "precious"
