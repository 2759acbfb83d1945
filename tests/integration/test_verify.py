"""`arena verify`: every file of a run against what it rests on; each kind of damage is found and named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
import typer

from arena.datasets.jsonl import write_jsonl
from arena.errors import RunStoreError
from arena.store import RunStore
from arena.types import CallAttempt, PaidAttempt
from experiments.cli.main import main
from experiments.cli.runs import verify
from experiments.views.verify import is_verified, verdict_text, verify_run
from experiments.views.verify_checks import RunCheck
from tests.integration.conftest import Arena, study_of
from tests.samples import small_dataset

OPTIONS = ("--strategies", "retrieval_only,vanilla", "--modes", "dense", "--run-id", "r1")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, tiny_embedder: Path) -> Path:
    """Of which each test gets a copy."""
    folder = tmp_path_factory.mktemp("verified")
    write_jsonl(small_dataset(), folder / "data")
    with pytest.raises(SystemExit) as ended:
        main(["run", str(study_of(folder, folder / "data", tiny_embedder)), *OPTIONS])
    assert ended.value.code == 0
    return folder / "runs" / "r1"


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """Over data that no test may change."""
    return Path(copytree(finished, tmp_path / "runs" / "r1"))


@pytest.fixture
def own_run(arena: Arena, study: Path, tmp_path: Path) -> Path:
    """Over the data in `jsonl_folder`."""
    done = arena("run", study, *OPTIONS)
    assert done.code == 0, done.err
    return tmp_path / "runs" / "r1"


def states(checks: list[RunCheck]) -> dict[str, str]:
    return {check.name: check.state for check in checks}


def edited(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def test_an_untouched_run_is_verified_down_to_its_index_and_weights(run: Path) -> None:
    before = {file.name: file.read_bytes() for file in run.iterdir()}
    checks = verify_run(run)
    assert is_verified(checks), checks
    wanted = {
        "status", "settings", "fingerprints", "code and prompts", "prices", "embedding weights", "records.jsonl",
        "dataset", "index", "leaderboard.json", "scores.parquet", "questions.parquet", "calls.jsonl", "paid.jsonl",
    }  # fmt: skip
    assert {name for name, state in states(checks).items() if state == "ok"} >= wanted
    assert {file.name: file.read_bytes() for file in run.iterdir()} == before


def one_record_less(run: Path) -> None:
    lines = (run / "records.jsonl").read_bytes().splitlines(keepends=True)
    (run / "records.jsonl").write_bytes(b"".join(lines[:-1]))


def one_record_twice(run: Path) -> None:
    lines = (run / "records.jsonl").read_bytes().splitlines(keepends=True)
    (run / "records.jsonl").write_bytes(b"".join([*lines, lines[0]]))


def one_byte_changed(run: Path) -> None:
    whole = (run / "records.jsonl").read_bytes()
    (run / "records.jsonl").write_bytes(whole.replace(b'"outcome":"answered"', b'"outcome":"abstaine"', 1))


def a_better_score(run: Path) -> None:
    text = (run / "leaderboard.json").read_text(encoding="utf-8")
    (run / "leaderboard.json").write_text(text.replace('"n_failed": 0', '"n_failed": 1', 1), encoding="utf-8")


def a_cheaper_call(run: Path) -> None:
    text = (run / "calls.jsonl").read_text(encoding="utf-8")
    (run / "calls.jsonl").write_text(text.replace('"input_tokens": ', '"input_tokens": 1', 1), encoding="utf-8")


def another_value(run: Path) -> None:
    store = RunStore.open(run)
    columns = store.read_table("scores.parquet")
    columns["value"][0] = 0.123
    store.write_table("scores.parquet", columns)


def other_prompts(run: Path) -> None:
    edited(run / "manifest.json", lambda it: it["identity"]["contestants"]["vanilla"].update(prompts="0" * 16))


def another_setting(run: Path) -> None:
    edited(run / "manifest.json", lambda it: it["config"]["retrieval"].update(k=7))


def other_prices(run: Path) -> None:
    edited(run / "manifest.json", lambda it: it["prices"].update(source="elsewhere"))


def another_plan(run: Path) -> None:
    edited(run / "plan.json", lambda it: it["samples"].update(s1=["q1", "q99"]))


def a_key_less(run: Path) -> None:
    edited(run / "manifest.json", lambda it: it["identity"].pop("contestants"))


def no_ledger(run: Path) -> None:
    (run / "calls.jsonl").unlink()


def a_payment_less(run: Path) -> None:
    lines = (run / "paid.jsonl").read_bytes().splitlines(keepends=True)
    (run / "paid.jsonl").write_bytes(b"".join(lines[1:]))


def no_payments(run: Path) -> None:
    (run / "paid.jsonl").unlink()


def a_payment_twice(run: Path) -> None:
    lines = (run / "paid.jsonl").read_bytes().splitlines(keepends=True)
    (run / "paid.jsonl").write_bytes(b"".join([*lines, lines[0]]))


def a_cheaper_payment(run: Path) -> None:
    whole = (run / "paid.jsonl").read_bytes()
    (run / "paid.jsonl").write_bytes(whole.replace(b'"input_tokens":', b'"input_tokens":1', 1))


def no_questions(run: Path) -> None:
    (run / "questions.parquet").unlink()


def half_a_table(run: Path) -> None:
    (run / "scores.parquet").write_bytes((run / "scores.parquet").read_bytes()[:-50])


def no_leaderboard(run: Path) -> None:
    (run / "leaderboard.json").unlink()


def a_warning_less(run: Path) -> None:
    edited(run / "manifest.json", lambda it: it.update(warnings=["nothing to see"]))


def another_session(run: Path) -> None:
    edited(run / "manifest.json", lambda it: it["sessions"][0].update(seconds=1.0))


def another_judge(run: Path) -> None:
    edited(run / "manifest.json", lambda it: it.update(judges={"faithfulness": "judge_0"}))


def a_better_page(run: Path) -> None:
    text = (run / "report.html").read_text(encoding="utf-8")
    (run / "report.html").write_text(text.replace("vanilla", "vanila", 1), encoding="utf-8")


def not_finished(run: Path) -> None:
    edited(run / "manifest.json", lambda it: it.update(status="stopped"))


def test_what_was_paid_and_is_in_no_record_is_listed_and_is_no_fault(run: Path) -> None:
    with RunStore.open(run).paying() as ledger:
        ledger.enter(PaidAttempt("question", "fake:", "generate", "0" * 16, 1, CallAttempt(100, 5)))
    (check,) = [check for check in verify_run(run) if check.name == "paid.jsonl"]
    assert check.state == "ok"
    assert "; 1 of them, 105 tokens, are in no record" in check.seen[0]


def test_a_run_of_an_earlier_version_has_no_ledger_of_payments_and_is_verified(run: Path) -> None:
    (run / "paid.jsonl").unlink()
    store = RunStore.open(run)
    manifest = {name: value for name, value in store.manifest().items() if name != "spent"}
    store.write_manifest(manifest | {"identity": manifest["identity"] | {"arena": "0.1.0"}})
    (check,) = [check for check in verify_run(run) if check.name == "paid.jsonl"]
    assert check.state == "note"
    assert "kept no ledger" in check.seen[0]


@pytest.mark.parametrize(
    ("damage", "names", "seen"),
    [
        (one_record_less, {"records.jsonl"}, "1 planned questions of vanilla/dense/"),
        (one_record_twice, {"records.jsonl"}, "has 2 records"),
        (one_byte_changed, {"records.jsonl"}, "line 1: damaged"),
        (a_better_score, {"leaderboard.json"}, '"n_failed": 1, -> "n_failed": 0,'),
        (a_cheaper_call, {"calls.jsonl"}, "line 1 is not what the journals say"),
        (another_value, {"scores.parquet"}, "column value differs in 1 rows, first in row 0"),
        (other_prompts, {"code and prompts", "fingerprints"}, "vanilla.prompts: '0000000000000000' -> "),
        (another_setting, {"settings"}, "config.retrieval.k: 5 -> 7"),
        (other_prices, {"prices"}, "source: 'elsewhere' -> "),
        (another_plan, {"dataset", "fingerprints", "records.jsonl"}, "planned question 'q99' is not in it"),
        (a_key_less, {"code and prompts", "fingerprints"}, "manifest.json lacks what it must hold (KeyError: 'contest"),
        (no_ledger, {"calls.jsonl"}, "there is no "),
        (a_payment_less, {"paid.jsonl"}, "1 attempts that the journals have are not in it"),
        (no_payments, {"paid.jsonl"}, "it is missing, and with it "),
        (a_payment_twice, {"paid.jsonl"}, "1 lines are there twice; each attempt is counted once"),
        (a_cheaper_payment, {"paid.jsonl"}, "line 1: damaged"),
        (no_questions, {"questions.parquet"}, "cannot read questions.parquet of run 'r1'"),
        (half_a_table, {"scores.parquet"}, "cannot read scores.parquet of run 'r1'"),
        (no_leaderboard, {"leaderboard.json"}, "cannot read leaderboard.json of run 'r1'"),
        (a_warning_less, {"manifest.json"}, "somebody edited it"),
        (another_session, {"manifest.json"}, "somebody edited it"),
        (another_judge, {"manifest.json"}, "somebody edited it"),
        (a_better_page, {"report.html"}, "1 lines are not what the run's files give"),
        (not_finished, {"status"}, "stopped: arena run --resume finishes it"),
    ],
)
def test_whatever_is_changed_is_found_and_named(
    run: Path, damage: Callable[[Path], None], names: set[str], seen: str
) -> None:
    damage(run)
    checks = verify_run(run)
    differing = [check for check in checks if check.state == "differs"]
    assert names <= {check.name for check in differing}
    assert any(seen in line for check in differing for line in check.seen), differing
    assert not is_verified(checks)


def test_changed_data_and_weights_are_found_and_absent_ones_are_not_checked(
    own_run: Path, jsonl_folder: Path, tiny_embedder: Path
) -> None:
    weights = next(tiny_embedder.glob("*.safetensors"))
    whole = weights.read_bytes()
    try:
        weights.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        assert states(verify_run(own_run))["embedding weights"] == "differs"
    finally:
        weights.write_bytes(whole)
    corpus = jsonl_folder / "corpus.jsonl"
    corpus.write_text(corpus.read_text().replace("1871", "1872"))
    changed = states(verify_run(own_run))
    assert changed["dataset"] == changed["leaderboard.json"] == "differs"
    corpus.unlink()
    absent = states(verify_run(own_run))
    assert absent["dataset"] == absent["leaderboard.json"] == absent["scores.parquet"] == "not checked"
    assert absent["calls.jsonl"] == "ok"


@pytest.mark.parametrize("damage", [no_ledger, no_questions, half_a_table, no_leaderboard, a_better_score])
def test_one_derived_file_is_named_alone(run: Path, damage: Callable[[Path], None]) -> None:
    damage(run)
    checks = verify_run(run)
    (differing,) = [check.name for check in checks if check.state == "differs"]
    assert verdict_text(run, checks).startswith(f"Not verified: {differing}. arena score {run} derives them anew.")


def test_what_the_checks_come_to_is_said_in_one_line(own_run: Path, jsonl_folder: Path) -> None:
    assert verdict_text(own_run, verify_run(own_run)) == "Verified: nothing differs."
    (jsonl_folder / "corpus.jsonl").unlink()
    left = "dataset, leaderboard.json, scores.parquet, questions.parquet"
    assert verdict_text(own_run, verify_run(own_run)) == f"Verified: nothing differs. Not checked: {left}."
    one_byte_changed(own_run)
    assert verdict_text(own_run, verify_run(own_run)).startswith("Not verified: records.jsonl")
    assert "arena score" not in verdict_text(own_run, verify_run(own_run))


def test_a_folder_that_is_no_run_cannot_be_checked(tmp_path: Path, run: Path) -> None:
    with pytest.raises(RunStoreError, match="no run in"):
        verify_run(tmp_path)
    (run / "plan.json").unlink()
    with pytest.raises(RunStoreError, match=r"cannot read plan\.json"):
        verify_run(run)


def test_checks_are_shown_as_a_table_and_as_json(run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    verify(run)
    assert "embedding weights" in capfd.readouterr().out
    a_better_score(run)
    with pytest.raises(typer.Exit) as ended:
        verify(run, json=True)
    shown = json.loads(capfd.readouterr().out)
    assert (ended.value.exit_code, shown["run_id"], shown["verified"]) == (1, "r1", False)
    assert [one["name"] for one in shown["checks"] if one["state"] == "differs"] == ["leaderboard.json"]


def test_what_people_handed_in_is_held_to_its_hash_and_the_judge_to_its_verdicts(
    arena: Arena, study: Path, tmp_path: Path
) -> None:
    study.write_text(study.read_text() + "strategies: [closed_book]\njudge: {metrics: [answer_accuracy]}\n")
    done = arena("run", study, "--run-id", "r1", "--no-report", "--judge", "fake:")
    assert done.code == 0, done.err
    store = RunStore.open(tmp_path / "runs" / "r1")
    with store.holding():
        store.write_labels("")
        store.note_kept("labels.jsonl")
    found = states(verify_run(store.folder))
    assert (found["judge"], found["labels.jsonl"], found["manifest.json"]) == ("ok", "ok", "ok")
    store.write_manifest(store.manifest() | {"judges": {"answer_accuracy": "judge_0"}})
    store.write_labels("\n")
    found = states(verify_run(store.folder))
    assert (found["judge"], found["labels.jsonl"], found["manifest.json"]) == ("differs", "differs", "ok")
