from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from arena.errors import ConfigError, RunStoreError
from arena.store import RunStore
from experiments.execution.scoring import open_past_run
from experiments.studies.review.sheet import NO_GOLD, columns, criteria, export_sheet, review_rows, run_tag
from tests.unit.experiments.studies.review.reviewed_runs import reviewed_run, rows_of


@pytest.fixture
def store(tmp_path: Path, jsonl_folder: Path) -> RunStore:
    return reviewed_run(tmp_path / "runs" / "r1", jsonl_folder)


def test_a_row_shows_what_a_reviewer_needs(store: RunStore, tmp_path: Path) -> None:
    exported = export_sheet(store.folder, tmp_path / "sheet.csv", limit=None, seed=0)
    assert str(exported) == f"{tmp_path}/sheet.csv: 7 answers to judge; {tmp_path}/sheet.criteria.txt says how"
    by_answer = {row["answer"]: row for row in rows_of(exported.sheet)}
    assert tuple(by_answer["1871"]) == columns()
    row = by_answer["Mirelle Ostrand"]
    assert row["question"] == "Who governs the town near the source of the Orlen Weir?"
    assert row["gold_answers"] == "Mirelle Ostrand | Ostrand"
    assert row["passages"].startswith("[1] Orlen Weir\nOrlen Weir is a river")
    assert "\n\n[2] Tammerhold\nTammerhold is a hill town" in row["passages"]
    assert row["citations"] == "[1]"
    assert [row[criterion.name] for criterion in criteria()] == [""] * len(criteria())
    assert by_answer["Nobody"]["passages"] == ""
    assert by_answer["I do not know."]["gold_answers"] == NO_GOLD
    for guarded in ('\'=HYPERLINK("http://x","Ostrand")', "'May 5, 1871", "The Sarn estuary,\nso they say"):
        assert guarded in by_answer
    assert all(f"{criterion.name}\n    y if: " in exported.criteria.read_text() for criterion in criteria())


def test_nothing_in_a_sheet_tells_whose_answer_it_is(store: RunStore, tmp_path: Path) -> None:
    text = export_sheet(store.folder, tmp_path / "sheet.csv", limit=None, seed=0).sheet.read_text(encoding="utf-8-sig")
    for name in ("vanilla", "corrective", "dense", "q1", "q2"):
        assert name not in text
    rows = list(review_rows(open_past_run(store)))
    assert len({row.row_id for row in rows}) == len(rows) == 7
    assert all(row.row_id.startswith(f"{run_tag(open_past_run(store))}-") for row in rows)


def test_an_id_cannot_be_worked_out_without_the_run_folder(tmp_path: Path, jsonl_folder: Path) -> None:
    """Two runs that differ in nothing but how long their questions took."""
    one, two = reviewed_run(tmp_path / "a" / "r1", jsonl_folder), reviewed_run(tmp_path / "b" / "r1", jsonl_folder)
    slower = [replace(record, wall_seconds=0.25) for record in two.records()]
    (two.folder / "records.jsonl").unlink()
    with two.writing() as journal:
        for record in slower:
            journal.append(record)
    ids = [{row.row_id for row in review_rows(open_past_run(RunStore(store.folder)))} for store in (one, two)]
    assert ids[0].isdisjoint(ids[1])


def test_a_seed_fixes_the_order_and_the_sample(store: RunStore, tmp_path: Path) -> None:
    def exported(name: str, seed: int, limit: int | None = None) -> list[str]:
        sheet = export_sheet(store.folder, tmp_path / name, limit=limit, seed=seed).sheet
        return [row["row_id"] for row in rows_of(sheet)]

    first = exported("a.csv", 0)
    assert exported("b.csv", 0) == first
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    other = exported("c.csv", 1)
    assert other != first
    assert set(other) == set(first)
    assert first != sorted(first)
    two, one = exported("d.csv", 0, 2), exported("e.csv", 0, 1)
    assert (len(two), len(one)) == (4, 2)
    assert set(one) <= set(two) <= set(first)


def test_gold_can_be_hidden(store: RunStore, tmp_path: Path) -> None:
    sheet = export_sheet(store.folder, tmp_path / "sheet.csv", limit=None, seed=0, gold=False).sheet
    assert {row["gold_answers"] for row in rows_of(sheet)} == {""}


def test_a_sheet_that_may_hold_judgements_is_not_replaced(store: RunStore, tmp_path: Path) -> None:
    (tmp_path / "sheet.csv").write_text("mine")
    with pytest.raises(ConfigError, match=r"sheet.csv' exists, and may hold judgements"):
        export_sheet(store.folder, tmp_path / "sheet.csv", limit=None, seed=0)
    assert (tmp_path / "sheet.csv").read_text() == "mine"
    with pytest.raises(ConfigError, match="cannot write"):
        export_sheet(store.folder, tmp_path / "none" / "sheet.csv", limit=None, seed=0)


def test_a_run_that_goes_on_is_not_reviewed(store: RunStore, tmp_path: Path) -> None:
    store.write_manifest(store.manifest() | {"status": "stopped"})
    with pytest.raises(RunStoreError, match="is not finished: go on with arena run --resume"):
        export_sheet(store.folder, tmp_path / "sheet.csv", limit=None, seed=0)
    assert not (tmp_path / "sheet.csv").exists()
