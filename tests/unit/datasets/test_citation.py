from __future__ import annotations

import re

import pytest

from arena.datasets.table import Citation, known_datasets

CITED = {name: entry.citation for name, entry in known_datasets().items() if entry.citation}


def test_a_citation_as_an_entry_and_as_a_line() -> None:
    citation = Citation("brandt1811", ("Brandt, Ilse", "Marr, Ulf"), "On the {V}eyra", "Annals of Tolm", 1811)
    assert citation.short == "Brandt et al., Annals of Tolm 1811"
    assert citation.bibtex.splitlines() == [
        "@misc{brandt1811,",
        "  author = {Brandt, Ilse and Marr, Ulf},",
        "  title = {{On the {V}eyra}},",
        "  howpublished = {Annals of Tolm},",
        "  year = {1811}",
        "}",
    ]


def test_one_author_stands_alone() -> None:
    assert Citation("x", ("Brandt, Ilse",), "T", "V", 1811).short == "Brandt, V 1811"


@pytest.mark.parametrize("citation", CITED.values(), ids=CITED)
def test_citations_of_the_table_are_complete(citation: Citation) -> None:
    assert all(re.fullmatch(r"[^,]+, [^,]+", author) for author in citation.authors)
    assert citation.title
    assert citation.bibtex.count("{") == citation.bibtex.count("}")
    assert 2018 <= citation.year <= 2026
