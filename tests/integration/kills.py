"""A run that is killed (-9) again and again, at seeded random moments, against the same run left alone.

python -m tests.integration.kills 50
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena.store.journal import RECORD_LINES, entries
from arena.types import RunRecord
from tests.integration.four_calls import install
from tests.integration.test_conservation import play, tallied
from tests.patience import wait_until
from tests.warm_processes import WarmProcess

CONCURRENCY = 4
CALLS_MOST = 4
"""Calls of one question, at most."""
_JITTER_SECONDS = 0.1

Use = tuple[str, int, int]
"""Of one call: its prompt's hash, tokens in, tokens out."""


@dataclass(frozen=True, slots=True)
class Study:
    """What is run: three strategies without an index, and a provider that keeps books beside its script."""

    folder: Path
    site: Path

    @classmethod
    def make(cls, folder: Path, limit: int, latency_seconds: float) -> Study:
        script = play(folder, latency_seconds=latency_seconds)
        (folder / "study.yaml").write_text(
            "strategies: [four_calls, closed_book, oracle]\nmlflow: false\nrun_id: r1\n"
            f"sample: {{limit: {limit}}}\nconcurrency: {CONCURRENCY}\nllm: {{model: 'fake:{script}'}}\n",
            encoding="utf-8",
        )
        return cls(folder, install(folder / "site"))


@dataclass(slots=True)
class Course:
    """A run of the study in a folder of its own."""

    study: Study
    runs: Path
    handed_out: Counter[Use] = field(default_factory=Counter)

    @property
    def run(self) -> Path:
        return self.runs / "r1"

    def begin(self) -> WarmProcess:
        """Start the run, or go on with it once there is one."""
        begun = (self.run / "manifest.json").exists()
        what = ["--resume", "--run-id", "r1"] if begun else [str(self.study.folder / "study.yaml")]
        return WarmProcess(["run", *what, "--runs-dir", str(self.runs)], os.environ, self.study.site)

    def finish(self) -> None:
        """Let it come to its end."""
        with self.begin() as process:
            code, err = process.end()
        if code != 0:
            raise AssertionError(f"exit code {code}: {err}")

    def lines(self) -> int:
        """Whole lines of the journal."""
        journal = self.run / "records.jsonl"
        return journal.read_bytes().count(b"\n") if journal.exists() else 0

    def records(self) -> list[RunRecord]:
        return list(entries(self.run / "records.jsonl", RECORD_LINES))

    def board(self) -> Any:
        """The leaderboard without times."""
        return timeless(json.loads((self.run / "leaderboard.json").read_text(encoding="utf-8")))

    def entered(self) -> Counter[Use]:
        """What the ledger says was used."""
        return Counter(
            (call.prompt_sha, call.input_tokens or 0, call.output_tokens or 0)
            for record in self.records()
            for call in record.calls
        )

    def close_books(self) -> None:
        """Take what the provider says was used, and let it begin new books."""
        lines = tallied(self.study.folder)
        self.handed_out = Counter((line["prompt"], line["input_tokens"], line["output_tokens"]) for line in lines)
        (self.study.folder / "tally.jsonl").unlink()


def timeless(value: Any) -> Any:
    """A JSON value without durations, and without how many questions warmed up: each process has its own."""
    if isinstance(value, dict):
        return {
            key: timeless(item) for key, item in value.items() if not key.endswith("seconds") and key != "n_warm_up"
        }
    return [timeless(item) for item in value if not _is_of_time(item)] if isinstance(value, list) else value


def _is_of_time(item: Any) -> bool:
    """Whether it is a plane of leaderboard.json whose cost is time."""
    return isinstance(item, dict) and item.get("cost") == "seconds"


def kill_often(course: Course, kills: int, planned: int, seed: int) -> Counter[str]:
    """Kill the run so often, and let it end; how many kills met it `starting`, `asking` and `ending`.

    Of `planned` records, about as many are let through before each kill that meets it asking. The last fifth of the
    kills come when all are there, while they are put in order and scored.
    """
    rng = random.Random(seed)
    met: Counter[str] = Counter()
    asking = kills - kills // 5
    stride = max(1, planned // asking)
    while met.total() < kills:
        kind = "ending" if met.total() >= asking else rng.choice(("starting", "asking", "asking", "asking"))
        before = course.lines()
        with course.begin() as process:
            if kind == "starting":
                process.wait(rng.uniform(0.0, 1.5))
            else:
                wanted = planned if kind == "ending" else before + rng.randint(0, 2 * stride)
                _wait_for_lines(process, course, min(wanted, planned))
                process.wait(rng.uniform(0.0, 8 * _JITTER_SECONDS if kind == "ending" else _JITTER_SECONDS))
            if process.poll() is None:
                process.kill()
                met[kind] += 1
            process.end()
    course.finish()
    return met


def _wait_for_lines(process: WarmProcess, course: Course, lines: int) -> None:
    wait_until(lambda: course.lines() >= lines, process)


def compare(alone: Course, killed: Course, kills: int) -> dict[str, int]:
    """Assert that nothing was lost, doubled or left uncounted; what was paid and lost in flight."""
    keys = [(record.cell.key, record.question_id) for record in killed.records()]
    assert len(keys) == len(set(keys)), "records are doubled"
    assert keys == [(record.cell.key, record.question_id) for record in alone.records()], "records are lost"
    assert killed.entered() == alone.entered() == alone.handed_out, "the ledger is not that of the run left alone"
    lost = killed.handed_out - killed.entered()
    assert not killed.entered() - killed.handed_out, "the ledger has what was never handed out"
    assert lost.total() <= kills * CONCURRENCY * CALLS_MOST, "more was paid twice than can have been in flight"
    assert killed.board() == alone.board(), "the leaderboards differ"
    return {
        "records": len(keys),
        "calls": killed.entered().total(),
        "tokens": _tokens(killed.entered()),
        "calls_lost_in_flight": lost.total(),
        "tokens_lost_in_flight": _tokens(lost),
    }


def _tokens(used: Counter[Use]) -> int:
    return sum(times * (read + written) for (_, read, written), times in used.items())


def main(kills: int, seed: int = 0, limit: int = 60, latency_seconds: float = 0.03) -> dict[str, Any]:
    """Run the same study alone and killed, and compare."""
    with tempfile.TemporaryDirectory(prefix="arena-kills-") as folder:
        study = Study.make(Path(folder), limit, latency_seconds)
        alone, killed = (Course(study, Path(folder) / name) for name in ("alone", "killed"))
        alone.finish()
        alone.close_books()
        met = kill_often(killed, kills, len(alone.records()), seed)
        killed.close_books()
        return {"kills": dict(met), **compare(alone, killed, kills)}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(*map(int, sys.argv[1:3])), indent=2) + "\n")
