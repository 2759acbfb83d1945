from __future__ import annotations

import pytest

from experiments.studies.papers.numbers import published_datasets


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("musique", "MuSiQue"),
        ("musique:files/dev.jsonl", "MuSiQue"),
        ("ragrouter", "MuSiQue"),
        ("ragrouter:musique", "MuSiQue"),
        ("ragrouter:/files/some:dev.jsonl", "MuSiQue"),
        ("ragrouter:quality", "QuALITY"),
        ("ragrouter:files/ultraDomain_legal", "UltraDomain-Legal"),
        ("hotpotqa:dev.json", "HotpotQA"),
        ("2wikimultihopqa", "2WikiMultiHopQA"),
        ("jsonl:files/popqa_longtail/", "PopQA"),
        (r"jsonl:files\popqa", "PopQA"),
    ],
)
def test_a_dataset_is_known_by_its_name(spec: str, name: str) -> None:
    assert name in published_datasets(spec)


@pytest.mark.parametrize("spec", ["world", "world:2000:11", "jsonl:musique/mine", "jsonl:mypopqa", "ragrouter:files/x"])
def test_no_paper_used_the_others(spec: str) -> None:
    assert published_datasets(spec) == frozenset()
