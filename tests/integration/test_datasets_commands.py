from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.datasets import load_dataset
from tests.integration.conftest import Arena
from tests.patience import PATIENCE_SECONDS
from tests.unit.datasets.hotpot_files import hotpot_record, write_array
from tests.unit.datasets.ragrouter.ragrouter_files import make_folder, musique_records


def test_list_shows_how_to_write_each(arena: Arena) -> None:
    out = " ".join(arena("datasets", "list").out.split())
    for name in ("world", "musique:", "jsonl:"):
        assert name in out


def test_info_counts_the_small_dataset(arena: Arena, jsonl_folder: Path) -> None:
    info = json.loads(arena("datasets", "info", f"jsonl:{jsonl_folder}", "--json").out)
    assert (info["n_documents"], info["n_questions"]) == (4, 5)
    assert info["by_kind"] == {"multi_hop": 1, "single_hop": 2, "summary": 1, "unanswerable": 1}
    assert "multi_hop: 1" in arena("datasets", "info", f"jsonl:{jsonl_folder}").out


def test_list_shows_licence_and_citation(arena: Arena) -> None:
    out = " ".join(arena("datasets", "list").out.split())
    for part in ("BY-SA", "Apache-2.0", "stated", "TACL"):
        assert part in out


def test_info_shows_licence_and_citation(arena: Arena, tmp_path: Path) -> None:
    spec = f"hotpotqa:{write_array(tmp_path / 'dev.json', hotpot_record())}"
    out = arena("datasets", "info", spec).out
    assert "licence  CC BY-SA 4.0" in out
    assert "@misc{yang2018hotpotqa," in out
    assert "2 hops: 1" in out
    info = json.loads(arena("datasets", "info", spec, "--json").out)
    assert (info["n_questions"], info["licence"], info["citation"]["year"]) == (1, "CC BY-SA 4.0", 2018)


def test_info_of_a_part_of_ragrouter_tells_what_was_recovered(arena: Arena, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "part", musique=musique_records())
    out = " ".join(arena("datasets", "info", f"ragrouter:{folder}").out.split())
    assert "multi_hop: 2, single_hop: 1, summary: 1" in out
    assert "note: 1 of 4 questions are in MuSiQue" in out
    assert "note: No whole config of the benchmark" in out


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_without_a_hub_licence_and_files_to_place_are_told_in_seconds(tmp_path: Path, form: tuple[str, ...]) -> None:
    """In a process of its own: the hub's client reads its address when it is imported."""
    command = [
        sys.executable,
        "-c",
        "from experiments.cli.main import main; main()",
        "datasets",
        "info",
        "ragrouter",
        *form,
    ]
    environment = {**os.environ, "HF_ENDPOINT": "http://127.0.0.1:9", "ARENA_CACHE": str(tmp_path)}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert done.returncode == 2
    assert ("licence  not stated" in done.stdout) == (not form)
    assert ("@misc{wang2026ragrouterbench," in done.stdout) == (not form)
    assert "http://127.0.0.1:9 does not answer" in done.stderr
    assert "place Corpus.json and Question.json" in done.stderr
    assert "--dataset ragrouter:FOLDER" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize("joined", [False, True], ids=["alone", "with MuSiQue"])
def test_a_run_on_ragrouter_leaves_questions_without_evidence_undefined(
    arena: Arena, tmp_path: Path, tiny_embedder: Path, joined: bool
) -> None:
    folder = make_folder(tmp_path / "part", musique=musique_records() if joined else ())
    config = tmp_path / "study.yaml"
    config.write_text(
        f"dataset: ragrouter:{folder}\nembedding: {{model: {tiny_embedder}}}\nllm: {{model: 'fake:'}}\nmlflow: false\n"
        f"strategies: [vanilla]\nmodes: [dense]\nruns_dir: {tmp_path / 'runs'}\n",
        encoding="utf-8",
    )
    done = arena("run", config, "--json")
    assert done.code == 0, done.err
    (cell,) = json.loads(done.out)["cells"]
    recall = cell["metrics"]["retrieval_recall"]
    assert (cell["n_questions"], recall["n"]) == (4, 4 if joined else 3)


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
