from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

from arena.store import RunStore
from arena.types import CallAttempt, RunRecord, Score, Verdict
from experiments.terminal.tables import Console, print_table
from experiments.views.cost import cost_fields, cost_notes, cost_of, cost_table
from tests.samples import answered, call, cell

PRICES = {"fake:": {"input_usd_per_million": 1e4, "output_usd_per_million": 1e4}}
HALF_KNOWN = call(attempts=(CallAttempt(None, None, fault="timeout"), CallAttempt(100, 5)))


def run(folder: Path, *records: RunRecord) -> Path:
    manifest = {"status": "stopped", "started": "2026-01-31T00:00:00+00:00", "config": {}, "identity": {}}
    with RunStore(folder).creating(manifest | {"config": {"prices": PRICES}}) as journal:
        for record in records:
            journal.append(record)
    return folder


def rating(repeat: int) -> Verdict:
    asked = replace(call(role="judge_answer_accuracy"), model="openai:gpt-4.1")
    return Verdict(
        cell=cell().key,
        question_id="q1",
        metric="answer_accuracy",
        judge=asked.model,
        judge_sha="j" * 16,
        subject_sha="s" * 16,
        repeat=repeat,
        score=Score("answer_accuracy", 0.5),
        parts=(),
        calls=(asked,),
    )


def printed(folder: Path) -> str:
    out = io.StringIO()
    cost = cost_of(folder, None)
    print_table(cost_table(cost), cost_notes(cost), Console(file=out, width=40))
    return out.getvalue()


@pytest.fixture
def half_known(tmp_path: Path) -> Path:
    return run(
        tmp_path / "r1",
        replace(answered("q1", "x"), calls=(call(role="[grade]"), HALF_KNOWN)),
        replace(answered("q1", "x", of=cell("retrieval_only")), calls=()),
    )


def test_unknown_sums_are_none_beside_what_is_known(half_known: Path) -> None:
    vanilla, bare = cost_fields(cost_of(half_known, None))["cells"]
    assert (vanilla["input_tokens"], vanilla["input_tokens_at_least"]) == (None, 200)
    assert (vanilla["usd"], vanilla["usd_per_question"]) == (None, None)
    assert vanilla["usd_at_least"] == pytest.approx(2.1)
    assert (vanilla["attempts"], vanilla["unknown_calls"]) == (3, 1)
    assert vanilla["roles"]["[grade]"]["usd"] == pytest.approx(1.05)
    assert (bare["calls"], bare["usd"], bare["roles"]) == (0, 0, {})


def test_the_table_marks_lower_bounds_and_takes_no_name_for_markup(half_known: Path) -> None:
    text = printed(half_known)
    total = next(line for line in text.splitlines() if line.startswith("all"))
    assert total.split() == ["all", "2", "3", "0", "≥200", "≥10", "≥2.10"]
    assert "[grade]" in text
    assert "≥ = at least" in text
    assert "retrieval_only" in text


def test_replays_are_counted_apart(tmp_path: Path) -> None:
    folder = run(tmp_path / "r1", replace(answered("q1", "x"), calls=(call(), call(replayed=True))))
    total = cost_fields(cost_of(folder, None))["total"]
    assert (total["usd"], total["replayed"]["usd"], total["replayed"]["calls"]) == (
        pytest.approx(2.1),
        pytest.approx(1.05),
        1,
    )
    assert "Replayed calls were paid for before" in printed(folder)


def test_prices_of_a_file_go_over_those_of_the_run(tmp_path: Path, half_known: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text("prices: {'fake:': {gpu_usd_per_hour: 3600}}\n")
    total = cost_fields(cost_of(half_known, file))["total"]
    assert total["usd"] == pytest.approx(0.2)  # one call of 0.2 s, and one of two attempts without seconds


def test_judges_the_probe_and_what_was_asked_again_stand_beside_the_cells_and_in_the_total(half_known: Path) -> None:
    store = RunStore.open(half_known)
    alone = cost_fields(cost_of(half_known, None))["total"]["calls"]
    with store.judging() as journal:
        for repeat in (0, 1):
            journal.append(rating(repeat))
    with store.probing() as journal:
        journal.append(replace(answered("q1", "x"), calls=(call(),)))
        journal.append(replace(answered("q1", "x", of=cell("retrieval_only")), calls=()))
    fields = cost_fields(cost_of(half_known, None))
    judged = "judge openai:gpt-4.1, answer_accuracy"
    assert {name: one["calls"] for name, one in fields["beside"].items()} == {judged: 2, "latency probe": 1}
    assert fields["beside"][judged]["usd"] > 0
    assert fields["total"]["calls"] == alone + 3
    assert judged in printed(half_known)
