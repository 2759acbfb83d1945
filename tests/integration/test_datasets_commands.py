from __future__ import annotations

import json
from pathlib import Path

from arena.datasets import load_dataset
from tests.integration.conftest import Arena


def test_list_shows_how_to_write_each(arena: Arena) -> None:
    out = " ".join(arena("datasets", "list").out.split())
    for name in ("world", "musique:", "jsonl:"):
        assert name in out


def test_info_counts_the_small_dataset(arena: Arena, jsonl_folder: Path) -> None:
    info = json.loads(arena("datasets", "info", f"jsonl:{jsonl_folder}", "--json").out)
    assert (info["n_documents"], info["n_questions"]) == (4, 5)
    assert info["by_kind"] == {"multi_hop": 1, "single_hop": 2, "summary": 1, "unanswerable": 1}
    assert "multi_hop: 1" in arena("datasets", "info", f"jsonl:{jsonl_folder}").out


def test_a_made_world_is_the_same_bytes_twice_and_can_be_asked(arena: Arena, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert (
            arena("datasets", "make-world", "--out", tmp_path / name, "--documents", "300", "--questions", "75").code
            == 0
        )
    for file in ("corpus.jsonl", "questions.jsonl"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    world = load_dataset(f"jsonl:{tmp_path / 'one'}")
    assert (len(world.documents), len(world.questions)) == (300, 75)


def test_models_list_shows_source_and_licence(arena: Arena) -> None:
    out = " ".join(arena("models", "list").out.split())
    for name in ("all-minilm", "smollm2", "Apache-2.0"):
        assert name in out


def test_doctor_finds_nothing_wrong_here(arena: Arena) -> None:
    done = arena("doctor")
    assert done.code == 0, done.out
    assert "package arena: from rag-strategy-arena alone" in done.out
