"""A program of the user's own that reads JSON lines: kept alive, started again, and heard for its question alone."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from arena.types import RunRecord
from tests.integration.conftest import Arena, Done
from tests.integration.test_own_systems import records_of, run_arguments
from tests.unit.experiments import own_program

PROGRAM = [sys.executable, "-S", "-E", str(Path(own_program.__file__))]


def run(arena: Arena, folder: Path, *ways: str, **more: Any) -> tuple[Done, list[RunRecord]]:
    fields = {"command": [*PROGRAM, *ways], "timeout_seconds": 30, **more}
    done = arena(*run_arguments(folder), "--concurrency", "1", "--set", f"systems.mine={json.dumps(fields)}")
    journal = folder / "runs" / "r" / "records.jsonl"
    return done, list(records_of(folder).get("mine", {}).values()) if journal.exists() else []


def failures(records: list[RunRecord]) -> list[str]:
    """What each record says of its failure; empty where it is none."""
    return [record.failure.message if record.failure else "" for record in records]


def test_one_process_answers_all_questions(tmp_path: Path, arena: Arena) -> None:
    done, records = run(arena, tmp_path, "answer", "stale", "answer", "empty", "answer")
    assert done.code == 3, done.err
    told = failures(records)
    assert [bool(one) for one in told] == [False, False, False, True, False]
    assert "none of answer, abstained and error, but 'id'" in told[3]
    answers = [record.answer.text for record in records if record.answer]
    assert answers == ["1871"] * 4  # not what was printed by the way
    (call,) = records[0].calls
    assert (call.input_tokens, call.output_tokens) == (2, 1)


def test_a_program_that_dies_is_started_again_and_its_question_has_failed(tmp_path: Path, arena: Arena) -> None:
    done, records = run(arena, tmp_path, "answer", "die")
    assert done.code == 3, done.err
    told = failures(records)
    assert [bool(one) for one in told] == [False, True, False, True, False]
    assert "exit code 7" in told[1]
    assert told[1].endswith("out of memory")


def test_it_is_started_again_only_so_often(tmp_path: Path, arena: Arena) -> None:
    done, records = run(arena, tmp_path, "die", restarts=1)
    assert done.code == 3, done.err
    assert ["restarts allows no other" in one for one in failures(records)] == [False, False, True, True, True]


def test_a_program_that_hangs_is_ended(tmp_path: Path, arena: Arena) -> None:
    _, records = run(arena, tmp_path, "hang", timeout_seconds=0.3, restarts=0, breaker_failures=2)
    assert records == []  # two questions in a row without an answer: the system is down, and nothing is a result
    _, records = run(arena, tmp_path / "2", "answer", "hang", timeout_seconds=1, restarts=0)
    assert "no answer within 1 s" in failures(records)[1]


def test_a_line_without_the_id_of_its_question_is_no_answer(tmp_path: Path, arena: Arena) -> None:
    _, records = run(arena, tmp_path, "nameless", restarts=9)
    assert all("its line has no id" in one for one in failures(records))


def test_it_is_given_no_key_that_it_does_not_name(
    tmp_path: Path, arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-run")
    monkeypatch.setenv("THEIR_API_KEY", "named-by-the-user")
    done, records = run(arena, tmp_path, "environment", environment=["THEIR_API_KEY"])
    assert done.code == 0, done.err
    assert records[0].answer is not None
    names = str(records[0].answer.text).split(",")
    assert "THEIR_API_KEY" in names
    assert "PATH" in names
    assert "OPENAI_API_KEY" not in names


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"command": "no-such-program --at all"}, "no such program is found"),
        ({"command": []}, "command is empty"),
        ({"command": "python 'unended"}, "cannot be split into words"),
        ({"command": ["python", "x.py", "--api-key=sk-0123456789abcdefghijklmnop"]}, "looks like a key"),
        ({"command": "python x.py", "environment": ["A=b"]}, "never what is in them"),
        ({"command": "python3 x.py", "environment": ["NOT_SET_KEY"]}, "$NOT_SET_KEY, which is not set"),
        ({"command": "python x.py", "retries": 1}, "retries is for systems with http"),
    ],
)
def test_bad_settings_are_refused(fields: dict[str, Any], told: str, tmp_path: Path, arena: Arena) -> None:
    done = arena(*run_arguments(tmp_path), "--set", f"systems.mine={json.dumps(fields)}")
    assert done.code == 2
    assert told in done.err
    assert "0123456789abcdef" not in done.err
    assert not (tmp_path / "runs").exists()


def test_a_command_is_part_of_what_a_resume_has_to_name(tmp_path: Path, arena: Arena) -> None:
    assert run(arena, tmp_path, "answer")[0].code == 0
    again = ("run", "--resume", "--run-id", "r", "--runs-dir", tmp_path / "runs")
    refused = arena(*again)
    assert refused.code == 2
    assert f"--system 'mine=command:{' '.join([*PROGRAM, 'answer'])}'" in refused.err
    assert arena(*again, "--system", f"mine=command:{' '.join([*PROGRAM, 'answer'])}").code == 0
