from __future__ import annotations

import json
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.datasets import load_dataset
from arena.datasets.jsonl import load_jsonl, write_jsonl
from arena.datasets.records import fingerprint
from arena.errors import DatasetError
from arena.types import KINDS, Claim, Dataset, Document, Gold, Question

WORDS = st.text(min_size=1, max_size=12).filter(lambda text: bool(text.strip()))
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
)


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    """Any dataset the format can hold."""
    ids = draw(st.lists(WORDS, min_size=1, max_size=4, unique=True))
    documents = tuple(
        Document(
            one,
            draw(st.text(max_size=12)),
            draw(st.text(max_size=30)),
            draw(st.dictionaries(WORDS, SCALARS, max_size=2)),
        )
        for one in ids
    )
    some_ids = st.lists(st.sampled_from(ids), max_size=3).map(tuple)
    questions, gold = [], {}
    for question_id in draw(st.lists(WORDS, min_size=1, max_size=3, unique=True)):
        kind = draw(st.sampled_from(KINDS))
        supporting = draw(some_ids)
        order = tuple(reversed(supporting)) if draw(st.booleans()) else None
        answers = tuple(draw(st.lists(WORDS, min_size=kind != "unanswerable", max_size=2)))
        claims = tuple(Claim(draw(WORDS), draw(some_ids)) for _ in range(draw(st.integers(0, 2))))
        hops, shape, split = draw(st.none() | st.integers(1, 4)), draw(st.none() | WORDS), draw(st.none() | WORDS)
        questions.append(Question(question_id, draw(WORDS), kind, hops, shape, split))
        gold[question_id] = Gold(question_id, answers, supporting, order, kind != "unanswerable", claims)
    return Dataset("drawn", documents, tuple(questions), gold, fingerprint(documents, questions, gold))


def small() -> Dataset:
    documents = (Document("d1", "Veyra", "Veyra rises in Tolm, north of Ør.", {"b": 1, "a": 2.5}),)
    questions = (Question("q1", "Where?", "single_hop", hops=1),)
    gold = {"q1": Gold("q1", ("Tolm",), ("d1",))}
    return Dataset("small", documents, questions, gold, fingerprint(documents, questions, gold), ("a note",))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@settings(max_examples=60)
@given(datasets())
def test_reading_back_gives_the_same_dataset(dataset: Dataset) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_jsonl(dataset, Path(folder) / "out")
        back = load_jsonl(Path(folder) / "out")
    assert replace(back, name=dataset.name) == dataset
    assert back.fingerprint == dataset.fingerprint


def test_the_bytes_are_utf8_lines_with_fixed_key_order(tmp_path: Path) -> None:
    write_jsonl(small(), tmp_path / "out")
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["corpus.jsonl", "questions.jsonl"]
    corpus = (tmp_path / "out" / "corpus.jsonl").read_bytes()
    assert corpus.endswith(b"}\n")
    assert "Ør".encode() in corpus
    assert list(json.loads(corpus)) == ["doc_id", "title", "text", "metadata"]
    assert list(json.loads(corpus)["metadata"]) == ["a", "b"]
    asked = json.loads((tmp_path / "out" / "questions.jsonl").read_bytes())
    assert list(asked) == ["question_id", "question", "answers", "supporting_ids", "kind", "hops"]


def test_equal_datasets_give_equal_bytes_and_writing_again_changes_nothing(tmp_path: Path) -> None:
    for name in ("one", "two", "one"):
        write_jsonl(small(), tmp_path / "deep" / name)
    for name in ("corpus.jsonl", "questions.jsonl"):
        assert (tmp_path / "deep/one" / name).read_bytes() == (tmp_path / "deep/two" / name).read_bytes()
    assert names(tmp_path / "deep") == ["one", "two"]


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    write_jsonl(small(), tmp_path / "out")
    assert load_jsonl(tmp_path / "out").fingerprint == small().fingerprint


@pytest.mark.parametrize("name", ["corpus.jsonl", "notes.txt"])
def test_a_folder_with_other_content_is_refused_and_left_alone(tmp_path: Path, name: str) -> None:
    target = tmp_path / "out"
    write_jsonl(small(), target)
    (target / name).write_text("mine")
    with pytest.raises(DatasetError, match="is not empty and holds something else"):
        write_jsonl(small(), target)
    assert (target / name).read_text() == "mine"
    assert names(tmp_path) == ["out"]


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(DatasetError, match="out is a file; name a new folder"):
        write_jsonl(small(), tmp_path / "out")
    with pytest.raises(DatasetError, match="cannot be written"):
        write_jsonl(small(), tmp_path / "out" / "inner")


def test_a_failure_midway_leaves_nothing_behind(tmp_path: Path) -> None:
    dataset = replace(small(), gold={})
    with pytest.raises(KeyError):
        write_jsonl(dataset, tmp_path / "out")
    assert names(tmp_path) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere")
def test_a_folder_that_refuses_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(DatasetError, match="out cannot be written: Permission denied"):
            write_jsonl(small(), tmp_path / "out")
    finally:
        tmp_path.chmod(0o700)


def test_a_world_survives_the_round_trip(tmp_path: Path) -> None:
    world = load_dataset("world:240:3")
    write_jsonl(world, tmp_path / "out")
    back = load_dataset(f"jsonl:{tmp_path / 'out'}")
    assert (back.documents, back.questions, back.gold) == (world.documents, world.questions, world.gold)
    assert back.fingerprint == world.fingerprint
