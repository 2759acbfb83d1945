from __future__ import annotations

from pathlib import Path

from arena.tracking.finished import finished_run
from arena.tracking.tags import cell_tags, run_tags
from tests.integration.finished_run import small_records, write_finished_run


def test_validity_warnings_are_tags_of_the_run_and_of_each_cell(tmp_path: Path, jsonl_folder: Path) -> None:
    run = finished_run(write_finished_run(tmp_path / "r1", jsonl_folder, small_records()), traces=0)
    tags = run_tags(run)
    assert tags["warnings"].startswith("fake_reader, few_questions")
    assert "say nothing about a language model" in tags["mlflow.note.content"]
    of_cell = cell_tags(run, run.board.cells[0], "parent")
    assert "fake_reader" in of_cell["warnings"]
    assert "say nothing about a language model" in of_cell["mlflow.note.content"]
