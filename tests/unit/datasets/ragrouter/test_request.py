from __future__ import annotations

from pathlib import Path

import pytest

from arena.datasets.ragrouter import RagRouterSource, edition_named, editions, read_request
from arena.errors import DatasetError


@pytest.mark.parametrize(
    ("argument", "name", "musique"),
    [
        (None, "musique", None),
        ("musique", "musique", None),
        ("musique:", "musique", None),
        ("musique:hub", "musique", "hub"),
        ("musique:my/dev.jsonl", "musique", "my/dev.jsonl"),
        ("legal", "ultraDomain_legal", None),
        ("graphragBench_medical", "graphragBench_medical", None),
    ],
)
def test_configs_by_name(argument: str | None, name: str, musique: str | None) -> None:
    assert read_request(argument) == RagRouterSource(edition_named(name), musique)  # type: ignore[arg-type]


def test_a_folder_ends_at_the_first_colon_after_one(tmp_path: Path) -> None:
    folder = tmp_path / "a:b"
    folder.mkdir()
    assert read_request(str(folder)) == RagRouterSource(folder)
    assert read_request(f"{folder}:c:d.jsonl") == RagRouterSource(folder, "c:d.jsonl")


def test_a_folder_here_is_a_folder_even_with_the_name_of_a_config(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "legal").mkdir()
    assert read_request("legal") == RagRouterSource(Path("legal"))
    assert read_request("medical").source == edition_named("medical")


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("some/where", "ragrouter:some/where: no such folder; check the path"),
        ("wikipedia", r"neither a config \(musique, quality, legal, medical\) nor a folder here"),
        (":x", "neither a config"),
        ("legal:dev.jsonl", "a MuSiQue file belongs to the config musique only; write ragrouter:legal"),
    ],
)
def test_anything_else_is_refused(argument: str, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        read_request(argument)


def test_the_configs_add_up_to_the_benchmark() -> None:
    assert sum(sum(edition.kinds.values()) for edition in editions()) == 7727
    assert sum(edition.n_documents for edition in editions()) == 21_460
    assert [file.path for edition in editions() for file in edition.files] == [
        f"{edition.name}/{file}" for edition in editions() for file in ("Corpus.json", "Question.json")
    ]
    assert [edition.name for edition in editions() if edition.from_musique] == ["musique"]
