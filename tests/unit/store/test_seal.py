from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arena.store import KEPT, LABELS, RunStore

MANIFEST: dict[str, Any] = {
    "status": "finished",
    "started": "2026-01-01T00:00:00+00:00",
    "config": {"judge": {"llm": {"model": "fake:"}}, "retrieval": {"k": 5}},
    "identity": {"dataset": "data_0"},
    "sessions": [{"seconds": 1.5, "finished": None}],
    "warnings": ["a"],
    "judges": {"faithfulness": "judge_0"},
    "counts": {2: 1, 10: 3},
    "pair": (1, 2),
}


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    store = RunStore(tmp_path)
    store.write_manifest(MANIFEST)
    return store


def rewritten(store: RunStore, content: dict[str, Any]) -> None:
    (store.folder / "manifest.json").write_text(json.dumps(content), encoding="utf-8")


def raw(store: RunStore) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((store.folder / "manifest.json").read_text(encoding="utf-8"))
    return content


def test_a_manifest_is_as_it_was_written_and_reads_without_its_seal(store: RunStore) -> None:
    assert store.is_sealed() is True
    assert "seal" not in store.manifest()
    store.write_manifest(store.manifest())
    assert store.is_sealed() is True


@pytest.mark.parametrize("key", [key for key in MANIFEST if key not in ("config", "identity", "status", "started")])
def test_no_part_of_it_can_be_edited_unseen(store: RunStore, key: str) -> None:
    content = raw(store)
    for other in ({**content, key: "edited"}, {name: value for name, value in content.items() if name != key}):
        rewritten(store, other)
        assert store.is_sealed() is False


def test_nor_a_setting_inside(store: RunStore) -> None:
    content = raw(store)
    content["config"]["judge"]["llm"]["model"] = "fake:other"
    rewritten(store, content)
    assert store.is_sealed() is False


def test_one_of_an_earlier_version_has_none(store: RunStore) -> None:
    content = raw(store)
    del content["seal"]
    rewritten(store, content)
    assert store.is_sealed() is None


def test_what_was_handed_in_is_known_by_its_hash(store: RunStore) -> None:
    store.write_labels("{}\n")
    store.note_kept(LABELS)
    first = store.manifest()[KEPT][LABELS]
    store.write_labels("{ }\n")
    store.note_kept(LABELS)
    assert len(first) == 64
    assert store.manifest()[KEPT][LABELS] != first
    assert store.is_sealed() is True
