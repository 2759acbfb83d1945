from __future__ import annotations

from experiments.manifest import differences, run_fingerprint, strategies_sha256


def test_differences_name_the_place_and_both_values() -> None:
    old = {"a": 1, "b": {"c": [1, 2], "d": None}}
    new = {"a": 1, "b": {"c": [1, 3]}, "e": "x"}
    assert differences(old, new) == ["b.c: [1, 2] -> [1, 3]", "e: None -> 'x'"]
    assert differences(old, old) == []


def test_the_fingerprint_follows_every_field_and_no_order() -> None:
    assert run_fingerprint({"a": 1, "b": 2}) == run_fingerprint({"b": 2, "a": 1})
    assert run_fingerprint({"a": 1, "b": 2}) != run_fingerprint({"a": 1, "b": 3})


def test_the_contestants_code_has_one_stable_hash() -> None:
    assert strategies_sha256() == strategies_sha256()
    assert len(strategies_sha256()) == 64
