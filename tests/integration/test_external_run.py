"""Corrective RAG over two corpora: what the first lacks is found in the second, or by a live tool."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.datasets.jsonl import write_jsonl
from arena.datasets.records import fingerprint
from arena.store.journal import RECORD_LINES, entries
from arena.types import Dataset, Gold, RunRecord
from tests.integration.conftest import Arena
from tests.samples import DOCUMENTS, QUESTIONS
from tests.tiny_t5 import build_tiny_t5

KNOWN, MOVED = QUESTIONS[1], QUESTIONS[2]  # on d1, on d4
GOLD = {
    KNOWN.question_id: Gold(KNOWN.question_id, ("1871",), ("d1",)),
    MOVED.question_id: Gold(MOVED.question_id, ("x",), ()),
}
ELSEWHERE = Gold(MOVED.question_id, ("Sarn estuary",), ("d4",))
SCRIPT = r"""
rules:
  - {when: 'Quennick School: [\s\S]*School stand\?[\s\S]*yes, no', probabilities: {"yes": 0.9, "no": 0.1}}
  - {when: 'Orlen Weir: [\s\S]*put across[\s\S]*yes, no', probabilities: {"yes": 0.9, "no": 0.1}}
  - {when: 'yes, no', probabilities: {"yes": 0.05, "no": 0.95}}
  - {when: 'School stand\?\nKeywords:', reply: "Quennick School, estuary"}
"""


@pytest.fixture
def study(tmp_path: Path, tiny_embedder: Path) -> Path:
    """A first corpus of d1 and d2, a second of d3 and d4, and a question on each."""
    first, second = DOCUMENTS[:2], DOCUMENTS[2:]
    moved = {ELSEWHERE.question_id: ELSEWHERE}
    write_jsonl(
        Dataset("first", first, (KNOWN, MOVED), GOLD, fingerprint(first, (KNOWN, MOVED), GOLD)), tmp_path / "first"
    )
    write_jsonl(Dataset("second", second, (MOVED,), moved, fingerprint(second, (MOVED,), moved)), tmp_path / "second")
    (tmp_path / "second" / "questions.jsonl").unlink()  # nobody asks the second corpus about itself
    (tmp_path / "script.yaml").write_text(SCRIPT, encoding="utf-8")
    path = tmp_path / "study.yaml"
    path.write_text(
        f"dataset: jsonl:{tmp_path / 'first'}\nembedding: {{model: {tiny_embedder}}}\n"
        f"llm: {{model: 'fake:{tmp_path / 'script.yaml'}'}}\nmodes: [hybrid]\n"
        f"external: {{dataset: 'jsonl:{tmp_path / 'second'}', tool: 'tests.unit.experiments.search_tools:two_pages'}}\n"
        f"runs_dir: {tmp_path / 'runs'}\nmlflow: false\n",
        encoding="utf-8",
    )
    return path


def records(tmp_path: Path, run_id: str = "r") -> list[RunRecord]:
    return list(entries(tmp_path / "runs" / run_id / "records.jsonl", RECORD_LINES))


def choices(record: RunRecord) -> dict[str, str]:
    return {decision.node: decision.choice for decision in record.decisions if decision.node != "evaluate"}


def test_what_was_moved_to_the_second_index_is_found_there(arena: Arena, study: Path, tmp_path: Path) -> None:
    entry = "corrective:external=second_index"
    done = arena("run", study, "--strategies", f"vanilla,corrective,{entry}", "--run-id", "r")
    assert done.code == 0, done.err
    found = {
        (r.cell.strategy, r.cell.params.get("external"), r.question_id): (r.answer.used_ids if r.answer else ())
        for r in records(tmp_path)
    }
    known, moved = KNOWN.question_id, MOVED.question_id
    assert found["vanilla", None, moved]
    assert "d4" not in found["vanilla", None, moved]
    assert found["corrective", "off", known] == found["corrective", "second_index", known] == ("d1",)
    assert found["corrective", "off", moved] == ()
    assert found["corrective", "second_index", moved] == ("d4",)
    (searched,) = [
        r for r in records(tmp_path) if r.cell.params.get("external") == "second_index" and len(r.retrievals) > 1
    ]
    assert searched.retrievals[1].request.query == "Quennick School, estuary"
    assert searched.retrievals[1].request.mode == "hybrid"
    assert choices(searched) == {
        "decide_action": "incorrect",
        "rewrite": "keywords",
        "search": "found",
        "select_external": "filtered",
    }
    assert {call.role for call in searched.calls} == {"evaluate", "rewrite", "select_external", "generate"}


def test_the_second_corpus_is_part_of_the_runs_identity(arena: Arena, study: Path, tmp_path: Path) -> None:
    entry = "corrective:external=second_index"
    assert arena("run", study, "--strategies", entry, "--run-id", "r").code == 0
    corpus = tmp_path / "second" / "corpus.jsonl"
    corpus.write_text(corpus.read_text(encoding="utf-8").replace("Sarn estuary", "Mirel estuary"), encoding="utf-8")
    assert arena("run", study, "--strategies", entry, "--run-id", "s").code == 0
    one, two = (json.loads((tmp_path / "runs" / name / "leaderboard.json").read_text()) for name in "rs")
    assert one["fingerprint"] != two["fingerprint"]


def test_a_live_tool_is_warned_of_and_searched(arena: Arena, study: Path, tmp_path: Path) -> None:
    done = arena("run", study, "--strategies", "corrective:external=live", "--run-id", "r")
    assert done.code == 0, done.err
    assert "may find the answers of a public benchmark" in done.err
    (searched,) = [record for record in records(tmp_path) if len(record.retrievals) > 1]
    assert searched.retrievals[1].request.mode == "live"
    assert [hit.doc_id[:4] for hit in searched.retrievals[1].hits] == ["web:", "web:"]
    assert choices(searched)["recompose"] == "without_knowledge"  # the judge takes nothing of what was found


def test_a_trained_evaluator_judges_instead_of_the_model(arena: Arena, study: Path, tmp_path: Path) -> None:
    folder = build_tiny_t5(tmp_path / "t5")
    entry = f"corrective:evaluator=t5:checkpoint={folder}:upper=9:lower=-9"
    done = arena("run", study, "--strategies", entry, "--run-id", "r")
    assert done.code == 0, done.err
    for record in records(tmp_path):
        assert {call.role for call in record.calls} == {"generate"}
        assert choices(record)["decide_action"] == "ambiguous"
        assert {decision.tier for decision in record.decisions if decision.node == "evaluate"} == {"T2"}
        assert len(str(record.cell.params["evaluator_weights"])) == 64


@pytest.mark.parametrize(
    ("entry", "line", "message"),
    [
        ("corrective:external=second_index", "dataset: null", "set external.dataset"),
        ("corrective:external=live", "tool: null", "set external.tool"),
        ("corrective:external=live", "tool: 'no.such:tool'", "No module named 'no'"),
    ],
)
def test_a_source_that_is_missing_ends_with_what_to_set(
    arena: Arena, study: Path, entry: str, line: str, message: str
) -> None:
    text = study.read_text(encoding="utf-8")
    study.write_text(
        "\n".join(f"external: {{{line}}}" if row.startswith("external") else row for row in text.splitlines()),
        encoding="utf-8",
    )
    done = arena("run", study, "--strategies", entry)
    assert (done.code, message in done.err) == (2, True), done.err
