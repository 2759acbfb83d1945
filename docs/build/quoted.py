"""The tables README quotes: `python -m docs.build.quoted RUN_FOLDER NAME` puts a run's leaderboard into block NAME.

The leaderboard itself is kept in `experiments/results/NAME.json`, so that a test can tell a quoted figure from an
edited one.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from arena.leaderboard.build import Leaderboard
from arena.report.console import render_markdown

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "experiments" / "results"
README = ROOT / "README.md"


def with_block(text: str, name: str, content: str) -> str:
    """`text` with the lines between `<!-- NAME:begin -->` and `<!-- NAME:end -->` replaced."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"README.md needs exactly one pair of {begin} and {end}")
    block = re.compile(f"{re.escape(begin)}.*{re.escape(end)}", re.DOTALL)
    return block.sub(lambda _: f"{begin}\n{content}\n{end}", text)


def quote(run_folder: Path, name: str) -> None:
    """Keep the run's leaderboard and put its table into README."""
    board = Leaderboard.model_validate_json((run_folder / "leaderboard.json").read_text(encoding="utf-8"))
    (RESULTS / f"{name}.json").write_text(board.model_dump_json(indent=1) + "\n", encoding="utf-8")
    README.write_text(with_block(README.read_text(encoding="utf-8"), name, render_markdown(board)), encoding="utf-8")


if __name__ == "__main__":
    quote(Path(sys.argv[1]), sys.argv[2])
