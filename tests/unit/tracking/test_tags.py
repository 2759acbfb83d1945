from __future__ import annotations

from pathlib import Path

from arena.tracking.runs import cell_tags, run_tags
from arena.tracking.source import finished_run
from arena.types import Cell
from tests.integration.finished_run import small_records, write_finished_run
from tests.samples import answered, cell


def test_validity_warnings_are_tags_of_the_run_and_of_each_cell(tmp_path: Path, jsonl_folder: Path) -> None:
    run = finished_run(write_finished_run(tmp_path / "r1", jsonl_folder, small_records()), traces=0)
    tags = run_tags(run)
    assert tags["warnings"].startswith("fake_reader, few_questions")
    assert "say nothing about a language model" in tags["mlflow.note.content"]
    of_cell = cell_tags(run, run.board.cells[0], "parent")
    assert "fake_reader" in of_cell["warnings"]
    assert "say nothing about a language model" in of_cell["mlflow.note.content"]


def test_namesakes_are_told_apart_by_their_names(tmp_path: Path, jsonl_folder: Path) -> None:
    cells = [Cell("ircot", "dense", "fake:", {"max_sentences": n, "prompt": "Say. " * 1000 * n}) for n in (2, 3)]
    records = [answered("q1", "Mirelle Ostrand", ("d1", "d2"), of=of) for of in (*cells, cell("vanilla"))]
    run = finished_run(write_finished_run(tmp_path / "r1", jsonl_folder, records), traces=0)
    names = [cell_tags(run, one, "parent")["mlflow.runName"] for one in run.board.cells]
    assert [name.partition(", prompt=")[0] for name in names] == [
        "ircot + dense (max_sentences=2",
        "ircot + dense (max_sentences=3",
        "vanilla + dense",
    ]
    assert max(map(len, names)) == 250
