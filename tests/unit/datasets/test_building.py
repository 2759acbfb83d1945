"""A dataset of one file, from a hub on the loopback interface."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.datasets.hotpot import load_hotpotqa
from arena.datasets.hub import mirror_of
from arena.datasets.table import from_path_or_hub, hub_cache, load_from_hub
from arena.errors import DatasetError
from tests.unit.datasets.dataset_hub import hub_file, serving
from tests.unit.datasets.hotpot_files import hotpot_record

CONTENT = json.dumps([hotpot_record(), hotpot_record(_id="5a02")]).encode()
FILE = hub_file("dev.json", CONTENT)
NOBODY = "http://127.0.0.1:9"


def test_the_hubs_file_is_loaded_kept_and_named_in_the_notes(tmp_path: Path) -> None:
    with serving({"dev.json": CONTENT}) as hub:
        dataset = load_from_hub("hotpotqa", load_hotpotqa, FILE, 2, tmp_path, endpoint=hub.url)
    assert dataset.name == "hotpotqa"
    assert [question.question_id for question in dataset.questions] == ["5a01", "5a02"]
    assert dataset.notes[0].startswith("Read from dev.json of someone/questions at revision bbb")
    assert dataset.notes[0].endswith("It is made by a test.")
    assert load_from_hub("hotpotqa", load_hotpotqa, FILE, 2, tmp_path, endpoint=NOBODY) == dataset


def test_the_hubs_file_and_the_same_file_by_path_have_one_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_bytes(CONTENT)
    by_path = from_path_or_hub("hotpotqa", load_hotpotqa, 2)(str(tmp_path / "mine.json"))
    with serving({"dev.json": CONTENT}) as hub:
        from_hub = load_from_hub("hotpotqa", load_hotpotqa, FILE, 2, tmp_path, endpoint=hub.url)
    assert by_path.fingerprint == from_hub.fingerprint


def test_another_number_of_questions_is_refused(tmp_path: Path) -> None:
    with serving({"dev.json": CONTENT}) as hub, pytest.raises(DatasetError, match="holds 2 questions, not 7,405"):
        load_from_hub("hotpotqa", load_hotpotqa, FILE, 7405, tmp_path, endpoint=hub.url)


MIRRORED = ("hotpotqa", "musique", "2wikimultihopqa")


@pytest.mark.parametrize("name", MIRRORED)
def test_without_a_hub_the_file_to_place_and_the_command_are_named(tmp_path: Path, name: str) -> None:
    file = mirror_of(name)
    with pytest.raises(DatasetError) as caught:
        load_from_hub(name, load_hotpotqa, file, 1, tmp_path, endpoint=NOBODY)
    message = str(caught.value)
    assert f"place {file.path} by hand ({file.page}" in message
    assert message.endswith(f"write --dataset {name}:{file.path}")


def test_every_mirror_is_pinned_by_a_commit() -> None:
    for file in map(mirror_of, MIRRORED):
        assert len(file.revision) == 40
        assert set(file.revision) <= set("0123456789abcdef")


def test_files_of_the_hub_are_kept_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path))
    assert hub_cache() == tmp_path / "datasets"
