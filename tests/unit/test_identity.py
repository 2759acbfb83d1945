"""Stored names are made of content; the right sides were written before there was one place that makes them."""

from __future__ import annotations

from arena.config import fingerprint
from arena.identity import canonical_json, short_hash
from arena.judges.subject import Subject
from arena.llm.metering import prompt_sha
from arena.types import Cell
from indexing.manifest import IndexIdentity


def test_stored_names_stay_what_they_were() -> None:
    index = IndexIdentity(
        corpus="sha256:é",
        chunking={"k": 1},
        embedder={"m": "x"},
        dimension=3,
        engine="edge",
        engine_version="1",
        search={"a": 1},
    )
    assert Cell("vanilla", "dense", "fake:", {"k": 5, "note": "é"}).key == "vanilla/dense/14a33835"
    assert fingerprint("run", {"b": 1, "a": "é"}) == "run_aa58fba8483623be"
    assert Subject("q é", "a", "r", {"d1": "t"}).sha == "e9177a168ea51d04"
    assert prompt_sha("Say é") == "3f2d042cd871dfda"
    assert index.fingerprint == "index-6d0648d866c14d9a"


def test_the_order_of_keys_counts_only_where_it_is_asked_for() -> None:
    assert canonical_json({"b": 1, "a": "é"}) == '{"a": "é", "b": 1}' == canonical_json({"a": "é", "b": 1})
    assert canonical_json({"b": 1, "a": "é"}, ascii_only=True, compact=True, in_order=True) == '{"b":1,"a":"\\u00e9"}'
    assert short_hash("é") == short_hash("é".encode()) != short_hash("e")
