"""`arena datasets make-world`: generate, prove, write."""

from __future__ import annotations

from pathlib import Path

from arena.datasets.jsonl import write_jsonl
from arena.datasets.world import check_world, make_world
from arena.errors import DatasetError
from experiments.terminal.progress import Reporter


def make_and_write(out: Path, documents: int, questions: int, seed: int, reporter: Reporter) -> None:
    """Write a proven world to `out` as corpus.jsonl and questions.jsonl.

    Raises:
        DatasetError: the size is impossible, the checker refutes a question, or `out` cannot be written.
    """
    reporter.say(f"making {documents} documents and {questions} questions from seed {seed} ...")
    world = make_world(documents, questions, seed)
    reporter.say("proving every question from the text ...")
    if violations := check_world(world):
        shown = "; ".join(violations[:3])
        raise DatasetError(f"{len(violations)} question(s) of this world are unsound ({shown}); please report the seed")
    write_jsonl(world, out)
    reporter.say(f"{out}: {world.fingerprint}; ask it with: arena run --dataset jsonl:{out}")
