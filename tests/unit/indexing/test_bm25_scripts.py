"""BM25 finds in any script what a person would look for."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from indexing.bm25 import Bm25, words_identity

SHELVES = yaml.safe_load(Path(__file__).with_name("scripts.yaml").read_text(encoding="utf-8"))
ENGLISH = ["The ship sailed.", "A café in Zürich — “open”.", "Ships & harbours: 5 €\u00a0each …"]


def ranked(documents: Sequence[str], query: str) -> list[int]:
    """Places of the documents that share a term with the query, best first, as an engine with idf would."""
    lane = Bm25().fitted(documents)
    weights = [dict(zip(one.indices, one.values, strict=True)) for one in lane.passages(documents)]
    frequencies = Counter(term for one in weights for term in one)
    (asked,) = lane.queries([query])
    n = len(documents)
    idf = {term: math.log(1 + (n - frequencies[term] + 0.5) / (frequencies[term] + 0.5)) for term in asked.indices}
    scores = [sum(one.get(term, 0.0) * idf[term] for term in asked.indices) for one in weights]
    return sorted((place for place in range(n) if scores[place] > 0), key=lambda place: -scores[place])


@pytest.mark.parametrize(
    ("script", "query", "wanted"),
    [(script, query, wanted) for script, shelf in SHELVES.items() for query, wanted in shelf["queries"]],
)
def test_the_document_meant_comes_first(script: str, query: str, wanted: int) -> None:
    documents = SHELVES[script]["documents"]
    assert ranked(documents, query)[:1] == [wanted]


@pytest.mark.parametrize("script", SHELVES)
def test_composed_and_full_width_forms_are_one(script: str) -> None:
    documents = SHELVES[script]["documents"]
    lane = Bm25().fitted(documents)
    for form in ("NFC", "NFD", "NFKC"):
        assert lane.passages([unicodedata.normalize(form, one) for one in documents]) == lane.passages(documents)
        assert lane.queries([unicodedata.normalize(form, one) for one in documents]) == lane.queries(documents)


def test_the_identity_of_an_index_changes_only_with_its_terms() -> None:
    assert words_identity(ENGLISH) == {}
    assert words_identity([*ENGLISH, "北京"]) != {}
    assert words_identity([*ENGLISH, "cafe\u0301"]) != {}
