"""Sizes of configs and folders, and a config from a hub on the loopback interface."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from arena.datasets import load_dataset
from arena.datasets.ragrouter import Edition, RagRouterSource, check_sizes, edition_named, load_request
from arena.errors import DatasetError
from arena.types import Question
from tests.unit.datasets.dataset_hub import hub_file, serving
from tests.unit.datasets.ragrouter.ragrouter_files import DOCUMENTS, QUESTIONS, make_folder, musique_records, write

MUSIQUE = edition_named("musique")
FILES = {"musique/Corpus.json": json.dumps(DOCUMENTS).encode(), "musique/Question.json": json.dumps(QUESTIONS).encode()}
CORPUS, ASKED = (hub_file(path, content) for path, content in FILES.items())
SMALL = Edition(
    "musique", "musique", 4, {"single_hop": 1, "multi_hop": 2, "summary": 1}, (CORPUS, ASKED), from_musique=True
)


def questions(multi_hop: int, single_hop: int, summary: int) -> list[Question]:
    counts = (("multi_hop", multi_hop), ("single_hop", single_hop), ("summary", summary))
    return [Question(f"{kind}{n}", "?", kind) for kind, count in counts for n in range(count)]  # type: ignore[arg-type]


def test_the_published_sizes_pass(tmp_path: Path) -> None:
    whole = questions(2590, 398, 368)
    assert len(whole) == 3356
    for source in (MUSIQUE, tmp_path / "musique", tmp_path / "any"):
        assert source is not None
        assert check_sizes(source, 21_100, whole) is None


@pytest.mark.parametrize(
    ("n_documents", "kinds"), [(21_099, (2590, 398, 368)), (21_100, (2589, 398, 368)), (21_100, (2589, 399, 368))]
)
def test_a_config_and_a_folder_of_its_name_must_fit(
    tmp_path: Path, n_documents: int, kinds: tuple[int, int, int]
) -> None:
    expected = r"musique has documents: 21,100, questions: 3,356 \(multi_hop: 2,590, single_hop: 398, summary: 368\)"
    assert MUSIQUE is not None
    with pytest.raises(
        DatasetError, match=f"config 'musique', but the sizes differ: documents: {n_documents:,}.*{expected}"
    ):
        check_sizes(MUSIQUE, n_documents, questions(*kinds))
    with pytest.raises(
        DatasetError, match=f"bears the name of a config, .*{expected}; rename the folder if this is a part"
    ):
        check_sizes(tmp_path / "musique", n_documents, questions(*kinds))
    note = check_sizes(tmp_path / "sample", n_documents, questions(*kinds))
    assert note is not None
    assert "21,100, questions: 3,356" in note


def test_a_folder_that_is_a_part_gets_a_note_and_one_with_a_configs_name_is_refused(tmp_path: Path) -> None:
    notes = load_dataset(f"ragrouter:{make_folder(tmp_path / 'part')}").notes
    found = "documents: 4, questions: 4 (multi_hop: 2, single_hop: 1, summary: 1) here"
    assert any(note.startswith("No whole config of the benchmark") and found in note for note in notes)
    with pytest.raises(DatasetError, match="bears the name of a config, but the sizes differ: documents: 4"):
        load_dataset(f"ragrouter:{make_folder(tmp_path / 'quality')}")


def test_a_config_comes_from_the_hub_and_is_kept(tmp_path: Path) -> None:
    musique = write(tmp_path / "musique.jsonl", musique_records(), lines=True)
    request = RagRouterSource(SMALL, str(musique))
    with serving(FILES) as hub:
        dataset = load_request(request, tmp_path / "cache", endpoint=hub.url)
    assert dataset.gold["q4"].supporting_ids == ("d2", "d1")
    assert dataset.notes[0].startswith("Read from musique/Corpus.json of someone/questions at revision ")
    assert load_request(request, tmp_path / "cache", endpoint="http://127.0.0.1:9") == dataset


def test_a_config_whose_file_on_the_hub_is_another_is_refused(tmp_path: Path) -> None:
    changed = FILES | {"musique/Question.json": FILES["musique/Question.json"] + b"\n"}
    refused = r"'musique/Question\.json' of 'someone/questions' has .* refused"
    with serving(changed) as hub, pytest.raises(DatasetError, match=refused):
        load_request(RagRouterSource(SMALL), tmp_path, endpoint=hub.url)


def test_a_config_whose_sizes_are_not_the_published_ones_is_refused(tmp_path: Path) -> None:
    musique = write(tmp_path / "musique.jsonl", musique_records(), lines=True)
    request = RagRouterSource(replace(SMALL, n_documents=5), str(musique))
    with (
        serving(FILES) as hub,
        pytest.raises(DatasetError, match="config 'musique', but the sizes differ: documents: 4"),
    ):
        load_request(request, tmp_path / "cache", endpoint=hub.url)


def test_without_a_hub_the_files_to_place_are_named(tmp_path: Path) -> None:
    assert MUSIQUE is not None
    with pytest.raises(DatasetError) as caught:
        load_request(RagRouterSource(MUSIQUE), tmp_path, endpoint="http://127.0.0.1:9")
    message = str(caught.value)
    assert message.startswith("cannot fetch 'musique/Corpus.json' of the dataset 'Chaplain0908/RAGRouter' from the hub")
    for part in ("Corpus.json and Question.json", "musique_ans_v1.0_dev.jsonl", "--dataset ragrouter:FOLDER"):
        assert part in message
