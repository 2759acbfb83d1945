"""`arena` in processes of its own that have the libraries at hand when they begin. For tests that kill them.

Each is forked (multiprocessing's forkserver) from one process that has imported the command line and what a run without
an index needs, which takes three seconds, once for all tests of a worker.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from multiprocessing.context import ForkServerContext
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.patience import PATIENCE_SECONDS

ROOT = Path(__file__).parents[1]
_IMPORTED = (
    "experiments.execution.start", "experiments.views.report", "arena.llm.fake.chat", "arena.llm.remote",
    "arena.datasets.world", "indexing.routing.opening", "langchain_openai", "openai", "genai_prices.data_snapshot",
    "pyarrow.parquet", "jinja2", "anyio._backends._asyncio", "h2.connection",
)  # fmt: skip


class WarmProcess:
    """`arena ARGUMENTS` in the project's folder, with the part of `subprocess.Popen` that tests use.

    Its standard error is kept, its standard output is not. `site`: a folder to import from first. It hears signals as a
    command of a terminal does, and Ctrl-C only if it `hears_ctrl_c`, however these tests were started.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        site: Path | None = None,
        *,
        hears_ctrl_c: bool = True,
    ) -> None:
        number, name = tempfile.mkstemp(prefix="arena-stderr-")
        os.close(number)
        self._said = Path(name)
        folder = str(site) if site else None
        given = ([*arguments], {**environment}, folder, name, hears_ctrl_c)
        self._process = _context().Process(target=_arena, args=given)
        self._process.start()

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float) -> int | None:
        """The exit code, or None where it goes on after so many seconds."""
        self._process.join(timeout)
        return self._process.exitcode

    def send_signal(self, number: signal.Signals) -> None:
        if self._process.pid is not None and self._process.exitcode is None:
            os.kill(self._process.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def end(self) -> tuple[int, str]:
        """Wait for the end: exit code (minus the signal's number where one ended it) and what it said on stderr."""
        code = self.wait(PATIENCE_SECONDS)
        if code is None:
            raise TimeoutError(f"it did not end within {PATIENCE_SECONDS:g} s")
        return code, self._said.read_text(encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is not None:
            self.kill()
        self._process.join(PATIENCE_SECONDS)
        self._said.unlink(missing_ok=True)


@cache
def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*_IMPORTED])
    return context


def _arena(
    arguments: list[str], environment: dict[str, str], site: str | None, errors: str, hears_ctrl_c: bool
) -> None:
    from experiments.cli.main import main

    signal.signal(signal.SIGINT, signal.default_int_handler if hears_ctrl_c else signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.chdir(ROOT)
    os.environ.clear()
    os.environ.update(environment)
    if site:
        sys.path.insert(0, site)
    for name, number in ((os.devnull, 1), (errors, 2)):
        opened = os.open(name, os.O_WRONLY)
        os.dup2(opened, number)
        os.close(opened)
    main(arguments)
