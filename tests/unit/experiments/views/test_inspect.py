from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.datasets import load_dataset
from arena.datasets.jsonl import write_jsonl
from arena.errors import RunStoreError, UnknownNameError
from arena.judges.subject import subject_of
from arena.metrics.case import Case
from arena.store import RUNNING, RunStore
from arena.types import FIT, Dataset, Decision, Document, RunRecord
from experiments.terminal.tables import Console
from experiments.views.inspect import Inspection, inspect_question, print_question
from tests.samples import GOLD, QUESTIONS, answered, small_dataset
from tests.unit.experiments.made_runs import made_run
from tests.unit.report.explorer.telling_records import PLAIN, RERANKED, looped, telling_records, verdict

HOSTILE = "[bold red]\x1b[2J<script>alert(1)</script>\u202eevil[/bold red]"


def run_of(folder: Path, records: Sequence[RunRecord], dataset: Dataset | None = None, **manifest: Any) -> RunStore:
    write_jsonl(dataset or small_dataset(), folder / "data")
    loaded = load_dataset(f"jsonl:{folder / 'data'}")
    return made_run(folder / "run", loaded.name, loaded, records, **manifest)


def printed(inspection: Inspection, width: int = 200, *, terminal: bool = False, as_json: bool = False) -> str:
    out = io.StringIO()
    print_question(inspection, Console(file=out, width=width, force_terminal=terminal), json=as_json)
    return out.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return run_of(tmp_path, telling_records()).folder


def test_it_shows_what_was_retrieved_decided_answered_and_spent(folder: Path) -> None:
    text = printed(inspect_question(folder, "q1"))
    for line in (
        "Who governs the town near the source of the Orlen Weir?",
        "right: Mirelle Ostrand or Ostrand",
        "hop 2: Tammerhold (d2)",
        "answer: Ostrand of Tammerhold",
        'retrieval 2 of 2: "Orlen Weir source"; hybrid_rerank, k 2, depth 50, rrf 60, threshold 0.15',
        "2 further candidates beyond k: hop 1 2 below",
    ):
        assert line in text
    rows = [" ".join(line.split()) for line in text.splitlines()]
    assert "1 Tammerhold (d2) [5:40] hop 2, used, cited 0.812 3: 0.456 \N{EN DASH} 1: 0.812" in rows
    assert any(row.startswith("3 Orlen Weir (d1) hop 1, dropped 0.00123") for row in rows)
    assert "1 evaluate: keep Tammerhold (d2) 0.7 0.5 (calibrated) T1 evidence, answer p 0.25" in rows
    assert any(
        row.startswith("generate fake: 1 unknown unknown 0.25 2") and "1 retried, 1 cut off" in row for row in rows
    )


def test_a_failure_and_a_cell_without_a_record_are_told(folder: Path) -> None:
    text = printed(inspect_question(folder, "q3"))
    assert "answer: failed: ModelCallError: generate: HTTP 500 after 4 attempts" in text
    assert "came to: provider_failed, a call to the model, or to a system of one's own, failed." in text
    assert "No record yet in corrective + hybrid_rerank." in text


def test_scores_without_a_value_have_their_reason(folder: Path) -> None:
    text = printed(inspect_question(folder, "q5"))
    assert "correct_abstention 1" in text
    assert "unanswerable: " in text


def test_one_cell_alone(folder: Path) -> None:
    text = printed(inspect_question(folder, "q1", ["vanilla/dense"]))
    assert PLAIN.key in text
    assert RERANKED.key not in text


def test_an_unfinished_run_shows_what_there_is(tmp_path: Path) -> None:
    store = run_of(tmp_path, telling_records(), status=RUNNING)
    before = {path.name: path.read_bytes() for path in store.folder.iterdir()}
    assert "Mirelle Ostrand" in printed(inspect_question(store.folder, "q1"))
    assert {path.name: path.read_bytes() for path in store.folder.iterdir()} == before


def test_the_newest_record_counts(tmp_path: Path) -> None:
    older = replace(answered("q1", "an older answer"), cell=PLAIN)
    store = run_of(tmp_path, [older, *telling_records()])
    assert "an older answer" not in printed(inspect_question(store.folder, "q1"))


def test_an_unknown_question_is_answered_with_the_nearest_ids(folder: Path) -> None:
    with pytest.raises(RunStoreError, match=r"no question 'q9' among its 5; the nearest ids are 'q1', 'q2'"):
        inspect_question(folder, "q9")


def test_an_unknown_cell_is_refused(folder: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown cell 'vanila': did you mean 'vanilla'"):
        inspect_question(folder, "q1", ["vanila"])


def test_verdicts_are_shown_and_those_on_another_answer_are_not(tmp_path: Path) -> None:
    store = run_of(tmp_path, telling_records())
    documents = {one.doc_id: one for one in small_dataset().documents}
    sha = subject_of(Case(looped(), QUESTIONS[0], GOLD["q1"], documents)).sha
    with store.judging() as journal:
        journal.append(verdict(sha))
        journal.append(replace(verdict("another answer"), repeat=1))
    store.write_manifest(store.manifest() | {"judges": {"faithfulness": "judge_0"}})
    text = printed(inspect_question(store.folder, "q1"))
    assert "faithfulness: 0.5 by fake:" in text
    assert "1  She governs it." in text
    assert "not judged  It is old.: judge_failed" in text
    assert "time 2" not in text
    assert "faithfulness 0.5" in text


def test_json_has_the_record_as_the_journal_has_it_and_the_texts_whole(folder: Path) -> None:
    content = json.loads(printed(inspect_question(folder, "q1", [RERANKED.key]), width=40, as_json=True))
    (cell,) = content["cells"]
    assert cell["record"]["retrievals"][0]["hits"][0]["lanes"]["dense"]["score"] == 0.456
    assert cell["record"]["answer"]["text"] == "Ostrand of Tammerhold"
    assert cell["roles"][1]["input_tokens"] is None
    assert cell["gold_retrieved"] == [{"d2": 1}, {"d2": 1}]
    assert content["documents"]["d1"]["text"] == small_dataset().documents[0].text
    assert content["gold_documents"][1] == {"doc_id": "d2", "title": "Tammerhold", "hops": [2]}


def hostile_run(tmp_path: Path) -> RunStore:
    small = small_dataset()
    documents = (Document("d1", HOSTILE, HOSTILE + "x" * 200_000), *small.documents[1:])
    return run_of(tmp_path, [answered("q1", HOSTILE, ("d1", "d2"))], replace(small, documents=documents))


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("width", [30, 80, 200])
def test_texts_are_never_markup_and_move_no_cursor(tmp_path: Path, width: int, terminal: bool) -> None:
    text = printed(inspect_question(hostile_run(tmp_path).folder, "q1"), width, terminal=terminal)
    assert "\x1b[2J" not in text
    assert "\u202e" not in text
    assert "[bold" in text
    if not terminal:
        assert "\x1b" not in text
        assert "<U+001B>" in text


def test_a_narrow_terminal_gets_blocks_of_lines(folder: Path) -> None:
    text = printed(inspect_question(folder, "q1"), 40, terminal=True)
    assert "threshold  0.5 (calibrated)" in text
    assert "dense   3: 0.456" in text


def test_a_long_passage_is_cut_and_says_where_the_rest_is(tmp_path: Path) -> None:
    inspection = inspect_question(hostile_run(tmp_path).folder, "q1")
    text = printed(inspection)
    assert "more characters: --json]" in text
    assert len(text) < 20_000
    assert "x" * 200_000 in json.loads(printed(inspection, as_json=True))["documents"]["d1"]["text"]


def test_evidence_that_did_not_fit_is_counted_in_passages(tmp_path: Path) -> None:
    (record, *_) = telling_records()
    fitted = Decision(FIT, "dropped", 1.0, 5.0, changed=("evidence",))
    store = run_of(tmp_path, [replace(record, decisions=(fitted,))])
    rows = [" ".join(line.split()) for line in printed(inspect_question(store.folder, record.question_id)).splitlines()]
    assert "1 fit: dropped evidence 1 of 5 passages shown" in rows
