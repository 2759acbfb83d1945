"""Systems of the user's own in a run: asked, recorded, scored and compared, and nothing made up of what they hide."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from arena.config import SystemConfig
from arena.datasets.jsonl import write_jsonl
from arena.store.journal import RECORD_LINES, entries
from arena.types import OWN_MODE, RunRecord
from experiments.cli.main import main
from experiments.execution.identity import is_unversioned, system_identity
from tests.integration.conftest import Arena
from tests.samples import QUESTIONS, small_dataset
from tests.unit.experiments import own_systems

HERE = "python:tests.unit.experiments.own_systems"
SYSTEMS = ("knows", "says", "asynchronous", "raises", "nonsense", "misleads", "exits", "ends_early")


def run_arguments(folder: Path, *systems: str, run_id: str = "r") -> list[str]:
    """A run of these systems alone: neither a model nor an index is opened."""
    asked = [part for system in systems for part in ("--system", system)]
    data = folder / "data"
    if not data.exists():
        write_jsonl(small_dataset(), data)
    place = ["--dataset", f"jsonl:{data}", "--runs-dir", str(folder / "runs"), "--run-id", run_id, "--strategies", ""]
    return ["run", *place, "--no-mlflow", "--llm", "fake:", "--set", "health_check=false", *asked]


def records_of(folder: Path, run_id: str = "r") -> dict[str, dict[str, RunRecord]]:
    """System -> question id -> its record."""
    found: dict[str, dict[str, RunRecord]] = {}
    for record in entries(folder / "runs" / run_id / "records.jsonl", RECORD_LINES):
        found.setdefault(record.cell.strategy, {})[record.question_id] = record
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of many systems."""
    folder = tmp_path_factory.mktemp("own")
    own_systems.ASKED.clear()
    systems = [f"{name.replace('_', '-')}={HERE}:{name}" for name in SYSTEMS]
    with pytest.raises(SystemExit) as ended:
        main(run_arguments(folder, *systems, f"engine={HERE}:engine.query"))
    assert ended.value.code == 3  # some fail on every question, and that is more than allowed
    return folder


@pytest.fixture(scope="module")
def board(folder: Path) -> dict[str, dict[str, Any]]:
    """System -> its row of the leaderboard."""
    rows = json.loads((folder / "runs" / "r" / "leaderboard.json").read_text())["cells"]
    return {row["strategy"]: row for row in rows}


def codes(folder: Path) -> Sequence[str]:
    board = json.loads((folder / "runs" / "r" / "leaderboard.json").read_text())
    return [one["code"] for one in board["warnings"]]


def test_every_question_of_every_system_has_one_record(folder: Path) -> None:
    found = records_of(folder)
    assert len(found) == len(SYSTEMS) + 1
    for records in found.values():
        assert records.keys() == {one.question_id for one in QUESTIONS}
        assert all(record.cell.retrieval_mode == OWN_MODE for record in records.values())


def test_what_a_system_reports_is_scored(folder: Path, board: dict[str, dict[str, Any]]) -> None:
    row = board["knows"]
    assert (row["n_answered"], row["n_abstained"], row["n_failed"]) == (4, 1, 0)
    assert row["metrics"]["retrieval_recall"]["mean"] == 1.0
    assert row["metrics"]["retrieved_precision"]["mean"] < 1.0  # its own page is in the list and no evidence
    assert row["metrics"]["answer_em"]["mean"] == 1.0
    assert row["metrics"]["lexical_faithfulness"]["coverage"] == 1.0  # it says what it showed
    assert row["tokens_per_question"] == {"input": 17.0, "output": 2.4}
    assert row["retrievals_per_question"] == 1.0
    assert row["latency_seconds"]["n_measured"] == 4
    (call,) = records_of(folder)["knows"]["q2"].calls
    assert (call.input_tokens, call.output_tokens, call.error) == (20, 3, None)


def test_what_a_system_does_not_report_is_unknown_and_never_zero(board: dict[str, dict[str, Any]]) -> None:
    row = board["says"]
    assert (row["n_answered"], row["n_failed"]) == (5, 0)
    assert row["tokens_per_question"] == {"input": None, "output": None}
    assert (row["llm_calls_per_question"], row["retrievals_per_question"]) == (None, None)
    assert row["cost_usd_per_question"] is None
    for metric in ("retrieval_recall", "recall_at_5", "mrr", "retrieval_precision"):
        assert (row["metrics"][metric]["mean"], row["metrics"][metric]["coverage"]) == (None, 0.0)
    assert row["guards"] == []
    assert {one["failure"] for one in row["failures"]["counts"]} <= {"unexplained", "false_answer", "unscored"}


def test_calls_that_are_listed_are_counted(folder: Path, board: dict[str, dict[str, Any]]) -> None:
    assert board["asynchronous"]["llm_calls_per_question"] == 2.0
    assert board["asynchronous"]["tokens_per_question"]["input"] is None  # of one call it does not say
    roles = [call.role for call in records_of(folder)["asynchronous"]["q1"].calls]
    assert roles == ["plan", "write"]


def test_documents_are_mapped_by_id_and_text_and_the_others_counted(folder: Path) -> None:
    (answer,) = {record.answer for record in records_of(folder)["engine"].values()}
    assert answer is not None
    assert answer.retrieved_ids == ("d1", "unmapped:d9", "d2")
    board = json.loads((folder / "runs" / "r" / "leaderboard.json").read_text())
    unmapped = [one["figures"] for one in board["warnings"] if one["code"] == "unmapped_documents"]
    assert {"unmapped": 5.0, "named": 15.0} in unmapped
    assert "unreported_evidence" in codes(folder)


def test_what_breaks_down_is_a_failure_of_its_question_alone(folder: Path) -> None:
    told = {name: records_of(folder)[name.replace("_", "-")]["q1"].failure for name in SYSTEMS[3:]}
    assert all(failure is not None and failure.stage == "strategy" for failure in told.values())
    assert all(word in str(told["raises"]) for word in ("no such index", "own_systems"))
    assert "gave back a list" in str(told["nonsense"])
    assert "it raised ConfigError: not of the run" in str(told["misleads"])
    assert "it raised SystemExit" in str(told["exits"])
    assert "it raised StopIteration" in str(told["ends_early"])
    (call,) = records_of(folder)["raises"]["q1"].calls
    assert call.error is not None
    assert call.input_tokens is None


def test_nothing_but_the_question_is_sent(folder: Path) -> None:
    asked = [fields for fields in own_systems.ASKED if isinstance(fields, dict)]
    assert [sorted(fields) for fields in asked] == [["id", "question", "style"]] * len(QUESTIONS)
    assert {fields["question"] for fields in asked} == {one.text for one in QUESTIONS}
    assert not {fields["id"] for fields in asked} & {one.question_id for one in QUESTIONS}  # ids may tell the hops


def test_a_run_with_systems_is_verified_shown_and_scored_without_asking_them(folder: Path, arena: Arena) -> None:
    asked = list(own_systems.ASKED)
    before = (folder / "runs" / "r" / "leaderboard.json").read_bytes()
    verified = arena("verify", folder / "runs" / "r")
    assert verified.code == 0, verified.out
    assert arena("score", folder / "runs" / "r").code == 0
    assert (folder / "runs" / "r" / "leaderboard.json").read_bytes() == before
    for command in (("show",), ("report",), ("cost",), ("inspect", "q1")):
        done = arena(command[0], folder / "runs" / "r", *command[1:])
        assert done.code == 0, done.err
    assert asked == own_systems.ASKED


def test_code_that_a_run_folder_names_is_refused_until_the_user_names_it(tmp_path: Path, arena: Arena) -> None:
    assert arena(*run_arguments(tmp_path, f"mine={HERE}:knows")).code == 0
    again = ("run", "--resume", "--run-id", "r", "--runs-dir", tmp_path / "runs")
    refused = arena(*again)
    assert refused.code == 2
    assert f"--system mine={HERE}:knows" in refused.err
    assert arena(*again, "--system", f"mine={HERE}:knows").code == 0
    assert arena(*again, "--set", f"systems.mine.python={HERE.removeprefix('python:')}:knows").code == 0
    other = arena(*again, "--system", f"mine={HERE}:says")
    assert other.code == 2
    assert "contestants.mine.system" in other.err


@pytest.mark.parametrize(
    ("system", "told"),
    [
        ("vanilla=python:a:b", "'vanilla' is a strategy of the arena"),
        (f"mine={HERE}:nobody", "has no attribute 'nobody'"),
        (f"mine={HERE}:NO_FUNCTION", "is a int, which cannot be called"),
        (f"mine={HERE}:wants_three", "needs 3 arguments"),
        ("mine=python:no_such_module:ask", "put the folder it is in on PYTHONPATH"),
        ("mine=python:ask", "write package.module:function"),
        ("mine=smtp:x", "names no system"),
        ("mine", "names no system"),
    ],
)
def test_a_system_that_cannot_be_asked_is_refused_before_a_folder_is_made(
    system: str, told: str, tmp_path: Path, arena: Arena
) -> None:
    done = arena(*run_arguments(tmp_path, system))
    assert done.code == 2
    assert told in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "runs").exists()


def test_a_dry_run_knows_nothing_of_what_systems_cost_and_asks_none(tmp_path: Path, arena: Arena) -> None:
    own_systems.ASKED.clear()
    done = arena(*run_arguments(tmp_path, f"mine={HERE}:asynchronous"), "--dry-run", "--json")
    assert done.code == 0, done.err
    expected = json.loads(done.out)
    (mine,) = expected["cells"]
    assert [mine[name] for name in ("calls", "input_tokens", "usd")] == [None, None, None]
    assert mine["source"] == "unknown"
    table = arena(*run_arguments(tmp_path, f"mine={HERE}:asynchronous"), "--dry-run")
    assert "mine: what systems of your own use and cost" in " ".join(table.out.split())
    assert own_systems.ASKED == []
    assert not (tmp_path / "runs").exists()


def test_what_tells_one_state_of_a_system_from_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    module = tmp_path / "their_system.py"
    module.write_text("def ask(question):\n    return 'one'\n", encoding="utf-8")

    def known(**settings: Any) -> dict[str, Any]:
        return system_identity("mine", SystemConfig(**settings))

    code = known(python="their_system:ask")["code"]
    assert code
    assert known(python="their_system:ask", version="2") == {
        "system": "python:their_system:ask",
        "version": "2",
        "code": None,
    }
    module.write_text("def ask(question):\n    return 'two'\n", encoding="utf-8")
    assert known(python="their_system:ask")["code"] not in (None, code)
    script = tmp_path / "their_program.py"
    script.write_text("one", encoding="utf-8")
    program = known(command=["python3", str(script)])["code"]
    script.write_text("two", encoding="utf-8")
    assert known(command=["python3", str(script)])["code"] not in (None, program)
    assert is_unversioned(known(http="http://localhost/ask"))
    assert is_unversioned(known(command=["cat"]))
    assert not is_unversioned(known(http="http://localhost/ask", version="1"))


def test_speed_and_keys_are_no_part_of_a_systems_identity(tmp_path: Path, arena: Arena) -> None:
    """A run goes on with other ones; under another version it does not."""
    assert arena(*run_arguments(tmp_path, f"mine={HERE}:says")).code == 0
    again = ("run", "--resume", "--run-id", "r", "--runs-dir", tmp_path / "runs", "--system", f"mine={HERE}:says")
    assert arena(*again, "--set", "systems.mine.timeout_seconds=3", "--set", "systems.mine.concurrency=2").code == 0
    other = arena(*again, "--set", "systems.mine.version=two")
    assert other.code == 2
    assert "contestants.mine.version" in other.err


def test_a_hanging_function_ends_with_its_question_and_not_with_the_run(tmp_path: Path, arena: Arena) -> None:
    asked = ["--set", "systems.mine.timeout_seconds=0.2", "--ids", "q1,q2"]
    done = arena(*run_arguments(tmp_path, f"mine={HERE}:hangs"), *asked)
    assert done.code == 3, done.err
    told = [record.failure.message for record in records_of(tmp_path)["mine"].values() if record.failure]
    assert ["no answer within 0.2 s" in one for one in told] == [True, True]


def test_a_system_that_only_retrieves_competes_on_evidence_alone(tmp_path: Path, arena: Arena) -> None:
    """What it prints is not what the command prints."""
    fields = {"python": f"{HERE.removeprefix('python:')}:prints", "answers": False, "k": 3}
    done = arena(*run_arguments(tmp_path), "--set", f"systems.mine={json.dumps(fields)}", "--json")
    assert done.code == 0, done.err
    (row,) = json.loads(done.out)["cells"]
    assert row["llm"] is None
    assert row["guards"] == []
    assert row["metrics"]["retrieval_recall"]["mean"] == pytest.approx((1 + 1 + 0 + 0.5) / 4)
    assert row["metrics"]["recall_at_5"]["coverage"] is None  # it asks for three
    assert row["metrics"]["answer_f1"]["coverage"] is None
    assert row["latency_seconds"]["n_measured"] == 4
    assert "retrieving ..." in done.err
    (retrieval,) = records_of(tmp_path)["mine"]["q1"].retrievals
    assert not any(character.isspace() for hit in retrieval.hits for character in hit.doc_id)


def test_systems_alone_are_asked_every_question_without_a_model_being_named(tmp_path: Path, arena: Arena) -> None:
    place = ["--dataset", "world:60:7", "--runs-dir", tmp_path / "runs", "--run-id", "r", "--no-report", "--no-mlflow"]
    done = arena("run", *place, "--strategies", "", "--system", f"mine={HERE}:engine.query", "--json")
    assert done.code == 0, done.err
    board = json.loads(done.out)
    assert board["cells"][0]["n_questions"] == board["dataset"]["n_questions"] > 6


def test_shards_of_a_run_with_systems_are_merged(tmp_path: Path, arena: Arena) -> None:
    for index in (1, 2):
        assert (
            arena(*run_arguments(tmp_path, f"mine={HERE}:says", run_id=f"s{index}"), "--shard", f"{index}/2").code == 0
        )
    runs = tmp_path / "runs"
    merged = arena("merge", runs / "s1", runs / "s2", "--into", "whole", "--runs-dir", runs)
    assert merged.code == 0, merged.err
    assert records_of(tmp_path, "whole")["mine"].keys() == {one.question_id for one in QUESTIONS}


def test_systems_are_not_made_equal_by_spending(tmp_path: Path, arena: Arena) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(f"dataset: world\nsystems: {{mine: '{HERE}:says'}}\nllm: {{model: 'fake:'}}\n", encoding="utf-8")
    done = arena("equalize", study, "--per-question", "tokens")
    assert done.code == 2
    assert "leave mine out of `systems`" in done.err


def test_a_module_that_ends_when_it_is_imported_ends_the_command_with_a_message(
    tmp_path: Path, arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "their_script.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    done = arena(*run_arguments(tmp_path, "mine=python:their_script:ask"))
    assert done.code == 2
    assert "'their_script:ask' cannot be made: SystemExit: 3" in done.err


def test_what_is_unknown_stays_so_through_export_and_import(folder: Path, tmp_path: Path, arena: Arena) -> None:
    assert arena("export", folder / "runs" / "r", "--format", "answers", "--out", tmp_path / "out").code == 0
    files = [next((tmp_path / "out").glob(f"{name}_*.jsonl")) for name in ("knows", "says", "asynchronous")]
    place = ["--dataset", f"jsonl:{folder / 'data'}", "--runs-dir", tmp_path / "runs", "--run-id", "i"]
    names = [part for name in ("k", "s", "a") for part in ("--name", name)]
    assert arena("import", *files, *place, *names).code == 0
    before = json.loads((folder / "runs" / "r" / "leaderboard.json").read_text())["cells"][:3]
    after = json.loads((tmp_path / "runs" / "i" / "leaderboard.json").read_text())["cells"]
    for one, other in zip(before, after, strict=True):
        for name in ("metrics", "tokens_per_question", "llm_calls_per_question", "retrievals_per_question", "failures"):
            assert other[name] == one[name]


def test_a_sweep_asks_a_system_once_for_all_points(tmp_path: Path, arena: Arena) -> None:
    write_jsonl(small_dataset(), tmp_path / "data")
    own_systems.ASKED.clear()
    study = tmp_path / "sweep.yaml"
    study.write_text(
        f"dataset: jsonl:{tmp_path / 'data'}\nllm: {{model: 'fake:'}}\nstrategies: [closed_book]\nmlflow: false\n"
        f"runs_dir: {tmp_path / 'runs'}\nsystems: {{mine: '{HERE}:asynchronous'}}\n"
        "sweep: {factors: {llm.max_tokens: [8, 16]}}\n",
        encoding="utf-8",
    )
    done = arena("sweep", study)
    assert done.code == 0, done.err
    assert len(own_systems.ASKED) == len(QUESTIONS)
