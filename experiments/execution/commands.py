"""A system of the user's own as a program: a JSON line in for each question, a JSON line out.

The program stays up from the first question to the last. Each line that it writes names the `id` of the question that
it answers, so that nothing it prints by the way, and nothing that comes late, is taken for the answer to another one.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import anyio

from arena.config import SystemConfig, command_environment
from arena.errors import ConfigError, StrategyError
from arena.files import parse_json
from arena.network import redacted
from arena.types import well_formed
from experiments.execution.system_gate import MOST_REPLY_BYTES, NoAnswer, SystemQuery

_MOST_OTHER_LINES = 10_000
"""Lines between a question and its answer that are neither: a log, which belongs on standard error."""

_ERROR_BYTES = 2_000
_SHOWN_CHARS = 300
_END_SECONDS = 5.0


@dataclass(slots=True)
class _Process:
    """One run of the program. `said`: the end of what it wrote to standard error."""

    inner: asyncio.subprocess.Process
    said: bytearray = field(default_factory=bytearray)
    reader: asyncio.Task[None] | None = None

    async def ask(self, query: SystemQuery) -> Any:
        """The line that answers. Raises `NoAnswer` where the program ends first; `StrategyError`: no line is one."""
        assert self.inner.stdin is not None
        line = json.dumps(query.fields, ensure_ascii=False) + "\n"
        with suppress(BrokenPipeError, ConnectionResetError):  # it ended: so does what it writes
            self.inner.stdin.write(line.encode())
            await self.inner.stdin.drain()
        for _ in range(_MOST_OTHER_LINES):
            reply = await self._line()
            if isinstance(reply, dict) and reply.get("id") == query.query_id:
                return reply
        raise StrategyError(
            f"it wrote {_MOST_OTHER_LINES:,} lines without the id of its question: answer each with one line, and log "
            "to standard error"
        )

    async def _line(self) -> Any:
        """The next line as JSON; None for one that is none."""
        assert self.inner.stdout is not None
        try:
            line = await self.inner.stdout.readline()
        except ValueError:
            raise StrategyError(f"it wrote a line of more than {MOST_REPLY_BYTES:,} bytes") from None
        if not line.endswith(b"\n"):
            raise NoAnswer(await self._ended())
        try:
            reply = parse_json(line)
        except ValueError:
            return None
        if isinstance(reply, dict) and "answer" in reply and "id" not in reply:
            raise StrategyError("its line has no id: repeat that of the question, so that answers are never mixed up")
        return reply

    async def _ended(self) -> str:
        """How, with the last that it said."""
        try:
            code = str(await asyncio.wait_for(self.inner.wait(), _END_SECONDS))
        except TimeoutError:
            code = "none: it closed its output and goes on"
        if self.reader is not None:
            await asyncio.wait({self.reader}, timeout=_END_SECONDS)
        said = " ".join(redacted(well_formed(self.said.decode("utf-8", "replace"))).split())[-_SHOWN_CHARS:]
        return f"it ended before it answered (exit code {code})" + (f", and said: {said}" if said else "")

    async def listen(self) -> None:
        """Read standard error, so that it never holds the program up, and keep its end."""
        assert self.inner.stderr is not None
        while part := await self.inner.stderr.read(65_536):
            self.said += part
            del self.said[:-_ERROR_BYTES]

    def kill(self) -> None:
        """End it, and all that it started."""
        if self.inner.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.inner.pid, signal.SIGKILL)

    async def close(self) -> None:
        """Let it see the end of its input, and end it where it goes on all the same."""
        if self.inner.stdin is not None:
            self.inner.stdin.close()
        for end in (bool, self.kill):
            end()
            with suppress(TimeoutError):
                await asyncio.wait_for(self.inner.wait(), _END_SECONDS)
                break
        if self.reader is not None:
            await asyncio.wait({self.reader}, timeout=_END_SECONDS)
            self.reader.cancel()


@dataclass(slots=True)
class CommandCaller:
    """As many processes of a program as questions are under way, each asked one question at a time.

    One that died, or was given up, is started again for a later question: there are at most `most` starts.
    """

    words: Sequence[str]
    environment: dict[str, str]
    most: int
    idle: list[_Process] = field(default_factory=list)
    started: list[_Process] = field(default_factory=list)

    @property
    def at_once(self) -> int:
        return 1

    async def ask(self, query: SystemQuery) -> Any:
        process = self.idle.pop() if self.idle else await self._start()
        try:
            reply = await process.ask(query)
        except BaseException:
            process.kill()  # what it has still to say would be about this question
            raise
        self.idle.append(process)
        return reply

    async def _start(self) -> _Process:
        if len(self.started) >= self.most:
            raise NoAnswer(f"it ended, or was given up, after each of {self.most} starts, and restarts allows no other")
        pipe = asyncio.subprocess.PIPE
        try:
            inner = await asyncio.create_subprocess_exec(
                *self.words,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                env=self.environment,
                limit=MOST_REPLY_BYTES,
                start_new_session=True,  # Ctrl-C is for us, and ends it in good order
            )
        except OSError as error:
            raise NoAnswer(f"it cannot be started: {error.strerror or error}") from None
        process = _Process(inner)
        process.reader = asyncio.create_task(process.listen())
        self.started.append(process)
        return process

    async def close(self) -> None:
        await asyncio.gather(*(one.close() for one in self.started))


@asynccontextmanager
async def open_command(name: str, settings: SystemConfig) -> AsyncIterator[CommandCaller]:
    """The program, started with the first question. Raises `ConfigError` where there is none of that name."""
    words, environment = settings.command or (), command_environment(settings)
    if shutil.which(words[0], path=environment.get("PATH")) is None:
        raise ConfigError(
            f"systems.{name}.command names {words[0]!r}, and no such program is found: write its path, or put its "
            "folder on PATH"
        )
    missing = [variable for variable in settings.environment if variable not in environment]
    if missing:
        raise ConfigError(f"systems.{name}.environment names ${missing[0]}, which is not set: set it, or leave it out")
    caller = CommandCaller(words, environment, (settings.concurrency or 1) + settings.restarts)
    try:
        yield caller
    finally:
        with anyio.CancelScope(shield=True):  # a run that is stopped leaves no program behind
            await caller.close()
