from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.views.serve.runs import RunList, in_order
from experiments.views.serve.watch import RunProgress
from tests.unit.experiments.studies.review.reviewed_runs import reviewed_run


def progress(shelf: RunList) -> list[RunProgress]:
    """Every run, the one that was started last first; those whose manifest cannot be read at the end."""
    return in_order([shelf.progress_of(store) for store in shelf.stores().values()])


@pytest.mark.parametrize("name", ["..", ".", "", "../outside", "r1/../r1", "/etc", "r1/", ".half", "r1\0"])
def test_only_the_name_of_a_run_finds_it(tmp_path: Path, jsonl_folder: Path, name: str) -> None:
    runs = tmp_path / "runs"
    reviewed_run(runs / "r1", jsonl_folder)
    for other in (runs / ".half", tmp_path / "outside", tmp_path):
        other.mkdir(exist_ok=True)
        (other / "manifest.json").write_text("{}")
    shelf = RunList(runs)
    assert shelf.find(name) is None
    found = shelf.find("r1")
    assert found is not None
    assert found.run_id == "r1"


def test_a_link_that_leads_out_of_the_folder_is_no_run_of_it(tmp_path: Path, jsonl_folder: Path) -> None:
    runs = tmp_path / "runs"
    reviewed_run(runs / "r1", jsonl_folder)
    reviewed_run(tmp_path / "outside", jsonl_folder)
    (runs / "link").symlink_to(tmp_path / "outside", target_is_directory=True)
    (runs / "again").symlink_to(runs / "r1", target_is_directory=True)
    assert set(RunList(runs).stores()) == {"r1", "again"}
    assert RunList(runs).find("link") is None


def test_a_finished_run_is_read_again_when_its_leaderboard_changes(tmp_path: Path, jsonl_folder: Path) -> None:
    store = reviewed_run(tmp_path / "r1", jsonl_folder)
    shelf = RunList(tmp_path)
    (first,) = progress(shelf)
    best = first.best("answer_f1")
    assert best is not None
    assert (best[0].strategy, first.status) == ("corrective", "finished")  # vanilla's mean is withheld: one failed
    assert progress(shelf) == [first]
    assert progress(shelf)[0] is first
    board = json.loads(store.leaderboard_json())
    board["cells"].reverse()
    store.write_leaderboard(json.dumps(board))
    (second,) = progress(shelf)
    assert [cell.strategy for cell in second.cells] == [cell.strategy for cell in reversed(first.cells)]
    store.write_leaderboard("{}")
    (damaged,) = progress(shelf)
    assert damaged.status == "damaged"
    assert "is damaged, or of another version" in (damaged.problem or "")
    (store.folder / "leaderboard.json").unlink()
    assert "cannot read leaderboard.json" in (progress(shelf)[0].problem or "")


def test_the_oracle_does_not_compete(tmp_path: Path, jsonl_folder: Path) -> None:
    store = reviewed_run(tmp_path / "r1", jsonl_folder)
    board = json.loads(store.leaderboard_json())
    board["cells"][0]["retrieval_mode"] = "gold"
    store.write_leaderboard(json.dumps(board))
    best = progress(RunList(tmp_path))[0].best("retrieval_recall")
    assert best is not None
    assert best[0].strategy == "corrective"
    assert progress(RunList(tmp_path))[0].best("unknown") is None


def test_the_floor_is_never_the_best(tmp_path: Path, jsonl_folder: Path) -> None:
    store = reviewed_run(tmp_path / "r1", jsonl_folder)
    board = json.loads(store.leaderboard_json())
    for cell in board["cells"]:
        cell |= {"strategy": "closed_book", "retrieval_mode": "none"}
    store.write_leaderboard(json.dumps(board))
    assert progress(RunList(tmp_path))[0].best("answer_f1") is None
