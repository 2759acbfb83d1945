from __future__ import annotations

import json
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from arena.datasets import DatasetEntry, dataset_entry, dataset_names, load_dataset
from arena.datasets.table import known_datasets
from arena.errors import DatasetError, UnknownNameError, UserError
from arena.types import Dataset


def build_empty(argument: str | None) -> Dataset:
    return Dataset("built", (), (), {}, f"ds_{argument}")


PLUGIN_ENTRY = DatasetEntry(build_empty, "nothing at all", "empty[:ARGUMENT]", "nobody's")
NOT_AN_ENTRY = "a string"


def plugin(name: str, attribute: str, module: str = __name__) -> EntryPoint:
    return EntryPoint(name=name, value=f"{module}:{attribute}", group="arena.datasets")


def test_the_table_is_sorted_and_says_how_to_write_each() -> None:
    assert list(known_datasets()) == sorted(known_datasets())
    for name, entry in known_datasets().items():
        assert entry.how_to_write.startswith(name)
        assert entry.summary
        assert entry.source
        assert entry.licence
        assert entry.citation or name in ("jsonl", "world")


def test_an_entry_of_a_third_party_needs_no_licence() -> None:
    assert (PLUGIN_ENTRY.licence, PLUGIN_ENTRY.citation) == ("not stated", None)


def test_a_licence_that_nobody_checked_is_not_asserted() -> None:
    assert known_datasets()["ragrouter"].licence.startswith("not stated for the data; check the hub page")


def test_a_dataset_is_named_as_it_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"doc_id": "d", "text": "x"}))
    asked = {"question_id": "q", "question": "?", "answers": ["x"], "supporting_ids": ["d"]}
    (tmp_path / "questions.jsonl").write_text(json.dumps(asked))
    assert load_dataset(f"jsonl:{tmp_path}").name == f"jsonl:{tmp_path}"


@pytest.mark.parametrize(("spec", "near"), [("musiq:x", "musique"), ("World", "world"), ("jsonlines:x", "jsonl")])
def test_an_unknown_name_gets_the_nearest_known_one(spec: str, near: str) -> None:
    with pytest.raises(UnknownNameError, match=f"did you mean '{near}'"):
        load_dataset(spec)


@pytest.mark.parametrize("spec", ["jsonl", "jsonl:"])
def test_a_missing_path_is_asked_for(spec: str) -> None:
    with pytest.raises(DatasetError, match=r"needs a path: write jsonl:FOLDER"):
        load_dataset(spec)


@pytest.mark.parametrize("name", ["2wikimultihopqa", "hotpotqa", "musique"])
def test_a_path_that_is_not_there_asks_no_hub(name: str, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"gone\.json: no such file; check the path"):
        load_dataset(f"{name}:{tmp_path / 'gone.json'}")


def test_a_path_may_hold_colons(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"a:b\.jsonl: no such file"):
        load_dataset(f"musique:{tmp_path}/a:b.jsonl")


@pytest.mark.parametrize("argument", ["big", "100", "100:", "100:x", "1:2:3", "1.5:2"])
def test_a_world_needs_two_whole_numbers(argument: str) -> None:
    with pytest.raises(DatasetError, match="expected two whole numbers, as in world:1000:7"):
        load_dataset(f"world:{argument}")


def test_a_world_has_a_quarter_as_many_questions_as_documents() -> None:
    world = load_dataset("world:240:3")
    assert world.name == "world:240:3"
    assert (len(world.documents), len(world.questions)) == (240, 60)


def test_a_plugin_is_found_listed_and_given_its_argument() -> None:
    plugins = [plugin("empty", "PLUGIN_ENTRY")]
    assert dataset_names(plugins) == tuple(sorted({*known_datasets(), "empty"}))
    assert dataset_entry("empty", plugins) is PLUGIN_ENTRY
    assert load_dataset("empty:arg", plugins).fingerprint == "ds_arg"
    assert load_dataset("empty", plugins).fingerprint == "ds_None"


def test_a_plugin_takes_over_no_name_of_the_table() -> None:
    assert dataset_entry("musique", [plugin("musique", "PLUGIN_ENTRY")]) is known_datasets()["musique"]


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (plugin("odd", "x", module="no_such_module"), "cannot be imported: ModuleNotFoundError"),
        (plugin("odd", "gone"), "cannot be imported: AttributeError"),
        (plugin("odd", "NOT_AN_ENTRY"), "is a str, not a DatasetEntry"),
    ],
)
def test_a_broken_plugin_is_named_and_spares_the_others(broken: EntryPoint, message: str) -> None:
    plugins = [broken, plugin("empty", "PLUGIN_ENTRY")]
    with pytest.raises(UserError, match=rf"the plugin for dataset 'odd' \(.*\) {message}"):
        load_dataset("odd", plugins)
    assert "odd" in dataset_names(plugins)
    assert load_dataset("empty", plugins).documents == ()
