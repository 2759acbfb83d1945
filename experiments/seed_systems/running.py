"""The page's commands, run in this process and in a folder of their own."""

from __future__ import annotations

import io
import shlex
import shutil
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

from experiments.seed_systems.models import make_models
from experiments.seed_systems.page import Ran

CONFIGS = Path(__file__).parents[1] / "configs"
MAKE_MODELS = ["python", "-m", "experiments.seed_systems", "--models"]

TERMINAL = {"COLUMNS": "110", "FORCE_COLOR": "", "TTY_COMPATIBLE": "0"}
"""What the environment must say for Rich to print alike wherever the page is written."""


@contextmanager
def workplace() -> Iterator[None]:
    """An empty folder with the configs in their place, as the current one."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(CONFIGS, folder / "experiments" / "configs")
        with chdir(folder):
            yield


def run(command: str) -> Ran:
    """Run one command of the page.

    Raises `RuntimeError` with what it said where it ends neither well nor with a check that failed.
    """
    words = shlex.split(command)
    if words[:-1] == MAKE_MODELS:
        make_models(Path(words[-1]))
        return Ran(0, "")
    if words[0] != "arena":
        raise ValueError(f"the page runs `arena` and `{shlex.join(MAKE_MODELS)} FOLDER`, not {command!r}")
    code, output, said = _arena(words[1:])
    if code not in (0, 1):
        raise RuntimeError(f"{command!r} ended with exit code {code}: {said}")
    return Ran(code, output)


def _arena(arguments: list[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr."""
    from experiments.cli.main import main

    output, said = io.StringIO(), io.StringIO()
    with redirect_stdout(output), redirect_stderr(said):
        try:
            main(arguments)
            code: int | str | None = 0
        except SystemExit as stop:
            code = stop.code
    return int(code or 0), output.getvalue(), said.getvalue()
