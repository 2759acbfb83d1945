from __future__ import annotations

import re
from pathlib import Path

import pytest

from arena.leaderboard.build import Leaderboard
from arena.report.console import render_markdown
from docs.build.quoted import README, RESULTS, ROOT, with_block

RESULT_FILES = sorted(RESULTS.glob("*.json"))


@pytest.mark.parametrize("file", RESULT_FILES, ids=lambda file: file.stem)
def test_every_quoted_table_is_the_kept_result(file: Path) -> None:
    board = Leaderboard.model_validate_json(file.read_text(encoding="utf-8"))
    readme = README.read_text(encoding="utf-8")
    assert with_block(readme, file.stem, render_markdown(board)) == readme


def test_every_block_of_readme_has_a_result() -> None:
    blocks = set(re.findall(r"<!-- (\w+):begin -->", README.read_text(encoding="utf-8")))
    assert blocks == {file.stem for file in RESULT_FILES}


def test_files_and_make_targets_that_readme_names_exist() -> None:
    readme = README.read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`?make ([a-z]+)", readme):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for path in re.findall(r"`?((?:experiments|strategies|docs)/[\w./]+\.(?:yaml|py|md))", readme):
        assert (ROOT / path).is_file(), path


def test_the_strategy_of_readme_is_the_one_that_is_installed_and_run() -> None:
    code = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    whole = (ROOT / "tests" / "own_strategy" / "arena_hyde.py").read_text(encoding="utf-8")
    assert whole.endswith(code[1])
    assert len(code[1].splitlines()) <= 40
