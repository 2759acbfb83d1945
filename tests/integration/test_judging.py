"""Judges, from the command line: over a run as it is made, and over one that is finished."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from arena.store import RunStore
from tests.integration.conftest import Arena
from tests.unit.store.test_full_disk import files_of_at_most

RATES = {"when": '"rating"', "reply": '{"rating": 4}'}


@pytest.fixture
def finished(arena: Arena, study: Path, tmp_path: Path) -> Path:
    """A run of two cells without an index, 5 and 4 questions, that nobody has judged."""
    study.write_text(study.read_text() + "strategies: [closed_book, oracle]\nconcurrency: 1\n")
    assert arena("run", study, "--run-id", "r").code == 0
    return tmp_path / "runs" / "r"


def board(run: Path) -> Any:
    return json.loads((run / "leaderboard.json").read_text(encoding="utf-8"))


def verdicts(run: Path) -> list[Any]:
    return [json.loads(line)["record"] for line in (run / "verdicts.jsonl").read_text().splitlines()]


def judge_script(folder: Path, name: str, **script: Any) -> str:
    (folder / f"{name}.json").write_text(json.dumps({"tally": f"{name}.jsonl"} | script), encoding="utf-8")
    return f"fake:{folder / f'{name}.json'}"


def asked(folder: Path, name: str) -> list[Any]:
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]


def judge_config(path: Path, model: str, **llm: Any) -> Path:
    path.write_text(json.dumps({"judge": {"llm": {"model": model} | llm, "metrics": ["answer_accuracy"]}}))
    return path


def test_a_run_is_judged_as_it_is_made(arena: Arena, study: Path, tmp_path: Path) -> None:
    study.write_text(study.read_text() + "strategies: [retrieval_only, vanilla, closed_book]\nmodes: [dense]\n")
    alone = arena("run", study, "--run-id", "alone")
    judged = arena("run", study, "--run-id", "judged", "--judge", "fake:")
    assert (alone.code, judged.code) == (0, 0), judged.err
    found, before = board(tmp_path / "runs" / "judged"), board(tmp_path / "runs" / "alone")
    retrieval, vanilla, closed_book = found["cells"]
    assert {"answer_accuracy", "faithfulness"} <= vanilla["metrics"].keys()
    assert vanilla["metrics"]["answer_accuracy"]["coverage"] == 1.0
    assert closed_book["metrics"]["faithfulness"]["n"] == 0
    assert retrieval["metrics"]["answer_accuracy"]["n"] == 0
    assert [card["metric"] for card in found["judges"]] in (
        ["answer_accuracy", "faithfulness"],
        ["faithfulness", "answer_accuracy"],
    )
    assert [cell["tokens_per_question"] for cell in found["cells"]] == [
        cell["tokens_per_question"] for cell in before["cells"]
    ]
    assert vanilla["judging"]["calls"] > 0
    assert before["judges"] == []


def test_a_finished_run_is_judged_by_another_and_no_verdict_is_shared(
    arena: Arena, finished: Path, tmp_path: Path
) -> None:
    means = {}
    for name, rating in (("mild", 4), ("strict", 0)):
        judge = judge_script(tmp_path, name, rules=[RATES | {"reply": json.dumps({"rating": rating})}])
        done = arena("judge", finished, "--judge", judge, "--metrics", "answer_accuracy")
        assert done.code == 0, done.err
        means[name] = [cell["metrics"]["answer_accuracy"]["mean"] for cell in board(finished)["cells"]]
        assert "Judges: answers with a verdict" in done.out
    assert means == {"mild": [0.0, 1.0], "strict": [0.0, 0.0]}  # the closed book abstains throughout
    kept = verdicts(finished)
    assert len({one["judge_sha"] for one in kept}) == 2
    assert Counter(one["score"]["value"] for one in kept) == {1.0: 4, 0.0: 4}
    assert all(not call["replayed"] for one in kept for call in one["calls"])


def test_a_judging_that_stops_goes_on_and_asks_nothing_twice(arena: Arena, finished: Path, tmp_path: Path) -> None:
    """The judge goes down after every fifth call."""
    flaky = judge_script(tmp_path, "flaky", rules=[RATES | {"times": 5}, {"error": 500, "message": "down"}])
    config = judge_config(tmp_path / "judge.json", flaky, max_attempts=1, breaker_failures=1, concurrency=1, cache=True)
    stopped = arena("judge", finished, "--config", config)
    assert stopped.code == 2
    assert "down" in stopped.err
    assert f"continue with: arena judge {finished}" in stopped.err
    first = len(verdicts(finished))
    assert 0 < first < 4
    for _ in range(6):
        done = arena("judge", finished)
        if done.code == 0:
            break
    assert done.code == 0, done.err
    good = Counter(one["prompt"] for one in asked(tmp_path, "flaky") if one["fault"] is None)
    assert set(good.values()) == {1}
    assert len(good) == 2 * 4
    assert [one["score"]["value"] for one in verdicts(finished)] == [1.0] * 4
    accuracy = board(finished)["cells"][1]["metrics"]["answer_accuracy"]
    assert (accuracy["mean"], accuracy["coverage"]) == (1.0, 1.0)
    again = arena("judge", finished)
    assert again.code == 0
    assert "nothing is left to judge" in again.err
    assert Counter(one["prompt"] for one in asked(tmp_path, "flaky") if one["fault"] is None) == good


def test_a_disk_that_is_full_stops_the_judging_with_one_message(arena: Arena, finished: Path, tmp_path: Path) -> None:
    command = ("judge", finished, "--judge", judge_script(tmp_path, "rater", rules=[RATES], tally=None))
    with files_of_at_most(30_000):
        stopped = arena(*command, "--metrics", "answer_accuracy", "--repeats", "20")
    assert stopped.code == 2, stopped.err
    assert "Make room" in stopped.err
    assert "all verdicts so far are kept" in stopped.err
    kept = verdicts(finished)
    assert kept
    assert arena(*command, "--metrics", "answer_accuracy", "--repeats", "20").code == 0
    whole = verdicts(finished)
    assert len(whole) == 20 * 4  # the closed book abstains throughout, and the oracle answers four
    assert all(one in whole for one in kept)


def test_scores_of_verdicts_are_derived_without_the_judge(arena: Arena, finished: Path, tmp_path: Path) -> None:
    judge = judge_script(tmp_path, "once", rules=[RATES])
    assert arena("judge", finished, "--judge", judge).code == 0
    before, calls = (finished / "leaderboard.json").read_bytes(), len(asked(tmp_path, "once"))
    (tmp_path / "once.json").unlink()
    assert arena("score", finished).code == 0
    assert (finished / "leaderboard.json").read_bytes() == before
    assert len(asked(tmp_path, "once")) == calls


def test_labels_of_people_are_kept_and_compared(arena: Arena, finished: Path, tmp_path: Path) -> None:
    cell = board(finished)["cells"][1]["cell"]
    labels = tmp_path / "people.jsonl"
    labels.write_text(
        "".join(json.dumps({"question_id": one, "correct": one != "q2", "cell": cell}) + "\n" for one in ("q1", "q2"))
    )
    judge = judge_script(tmp_path, "mild", rules=[RATES])
    done = arena("judge", finished, "--judge", judge, "--metrics", "answer_accuracy", "--labels", labels)
    assert done.code == 0, done.err
    (card,) = board(finished)["judges"]
    (people,) = [one for one in card["agreements"] if one["other"] == "human"]
    assert (people["n"], people["share"], people["both"], people["only_judge"]) == (2, 0.5, 1, 1)
    assert (finished / "labels.jsonl").read_text() == labels.read_text()


def test_repeats_add_to_what_is_there(arena: Arena, finished: Path, tmp_path: Path) -> None:
    judge = judge_script(tmp_path, "mild", rules=[RATES])
    for repeats in ("1", "3"):
        done = arena("judge", finished, "--judge", judge, "--metrics", "answer_accuracy", "--repeats", repeats)
        assert done.code == 0, done.err
    assert Counter(one["repeat"] for one in verdicts(finished)) == {0: 4, 1: 4, 2: 4}
    (card,) = board(finished)["judges"]
    assert (card["repeats"], card["own_sd"], card["due"]) == (3, 0.0, 4)


def test_a_judge_that_cannot_judge_is_refused_before_any_question_and_its_check_is_on_the_bill(
    arena: Arena, study: Path, tmp_path: Path
) -> None:
    mute = judge_script(tmp_path, "mute", rules=[RATES | {"reply": "good"}])
    refused = arena("run", study, "--judge", mute)
    assert refused.code == 2
    assert "cannot rate a made-up answer" in refused.err
    (folder,) = (tmp_path / "runs").iterdir()
    assert (folder / "records.jsonl").read_bytes() == b""
    paid = list(RunStore.open(folder).paid())
    assert paid, "what the check took is kept"
    assert {one.purpose for one in paid} == {"health"}
    mended = arena("run", "--resume", "--run-id", folder.name, "--runs-dir", folder.parent, "--judge", "fake:")
    assert mended.code == 0, mended.err
    assert {one.purpose for one in RunStore.open(folder).paid()} == {"health", "question", "judge"}
    costs = json.loads(arena("cost", folder, "--json").out)["paid"]
    assert costs["purposes"]["health"]["attempts"] >= len(paid)


def test_a_judge_that_cannot_be_reached_leaves_no_folder(arena: Arena, study: Path, tmp_path: Path) -> None:
    refused = arena("run", study, "--judge", "openai:x", "--set", "judge.llm.base_url=http://127.0.0.1:9/v1")
    assert refused.code == 2
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "names no judge: name one with --judge PROVIDER:NAME"),
        (("--judge", "fake:", "--metrics", "accuracy"), "answer_accuracy"),
        (("--judge", "nobody:x"), "unknown"),
        (("--judge", "fake:", "--labels", "nowhere.jsonl"), "cannot read labels 'nowhere.jsonl'"),
    ],
)
def test_what_cannot_be_done_is_said(arena: Arena, finished: Path, options: tuple[str, ...], message: str) -> None:
    before = (finished / "manifest.json").read_bytes()
    refused = arena("judge", finished, *options)
    assert refused.code == 2
    assert message in refused.err
    assert (finished / "manifest.json").read_bytes() == before
    assert not (finished / "verdicts.jsonl").exists()


def test_the_page_of_a_judged_run_is_made_anew(arena: Arena, finished: Path) -> None:
    assert arena("judge", finished, "--judge", "fake:", "--metrics", "answer_accuracy").code == 0
    assert arena("verify", finished).code == 0


def test_a_judging_that_breaks_off_leaves_files_that_are_one_with_the_journals(
    arena: Arena, finished: Path, tmp_path: Path
) -> None:
    gone = judge_script(tmp_path, "gone", rules=[RATES | {"times": 5}, {"error": 500, "message": "down"}])
    config = judge_config(tmp_path / "judge.json", gone, max_attempts=1, breaker_failures=1, concurrency=1)
    done = arena("judge", finished, "--config", config)
    assert done.code == 2
    assert "--resume" not in done.err
    assert arena("verify", finished).code == 0
