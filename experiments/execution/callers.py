"""The ways in which a system of the user's own is asked: as a function in this process, over HTTP, as a program."""

from __future__ import annotations

import asyncio
import inspect
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager, redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from arena.config import SystemConfig, system_key
from arena.errors import ConfigError, StrategyError, UserError
from arena.files import parse_json
from arena.llm.faults import read_fault
from arena.network import HIDDEN, async_http_client, is_loopback, redacted
from arena.types import well_formed
from experiments.execution.commands import open_command
from experiments.execution.evidence import imported
from experiments.execution.system_gate import AT_ONCE, MOST_REPLY_BYTES, Caller, NoAnswer, SystemQuery

if TYPE_CHECKING:
    import httpx

_JOIN_SECONDS = 1.0

_CONNECT_SECONDS = 10.0
_TOO_MANY, _SERVER_FAULT = 429, 500
_REFUSED_FOR_ALL = frozenset({401, 402, 403, 407, 408})
_SHOWN_CHARS = 200


@dataclass(frozen=True, slots=True)
class HttpCaller:
    """A server that each question is POSTed to, as JSON. Redirects are not followed: they may lead anywhere.

    `secrets`: what must be in no message and in no record.
    """

    client: httpx.AsyncClient
    url: str
    secrets: tuple[str, ...]

    @property
    def at_once(self) -> int:
        return AT_ONCE

    async def ask(self, query: SystemQuery) -> Any:
        """The JSON value it replies. Raises `NoAnswer`; or `StrategyError`, of a reply that is none."""
        import httpx

        try:
            async with self.client.stream("POST", self.url, json=query.fields) as response:
                if not response.is_success:
                    raise await self._refusal(response)
                text = await self._body(response)
        except httpx.TransportError as error:
            fault = read_fault(error, self.secrets)
            raise NoAnswer(fault.message, again=True, cost_nothing=fault.cost_nothing) from None
        except httpx.HTTPError as error:
            raise StrategyError(f"its reply cannot be read: {self._shown(str(error))}") from None
        try:
            return parse_json(text)
        except ValueError as error:
            raise StrategyError(f"its reply is no JSON ({error}): {self._shown(text)}") from None

    async def _body(self, response: httpx.Response) -> str:
        """Of a reply that began. Raises `StrategyError` for what breaks off or is too long: it is not asked again."""
        import httpx

        parts, size = [], 0
        try:
            async for part in response.aiter_bytes():
                parts.append(part)
                size += len(part)
                if size > MOST_REPLY_BYTES:
                    raise StrategyError(f"its reply is longer than {MOST_REPLY_BYTES:,} bytes")
        except httpx.TransportError as error:
            raise StrategyError(f"its reply broke off: {read_fault(error, self.secrets).message}") from None
        text = b"".join(parts).decode("utf-8-sig", "replace")
        for secret in self.secrets:
            text = text.replace(secret, HIDDEN)
        return text

    async def _refusal(self, response: httpx.Response) -> Exception:
        """What a reply without an answer means, by its status."""
        status = response.status_code
        if response.is_redirect or status < 400:
            where = self._shown(response.headers.get("location", "nowhere"))
            return StrategyError(
                f"HTTP {status}: it sends the question on to {where}, which is not followed: name the address itself"
            )
        fault = read_fault(_status_error(response), self.secrets)
        try:
            said = self._shown(await self._body(response))
        except StrategyError:
            said = ""
        message = f"HTTP {status}" + (f": {said}" if said else "")
        if status == _TOO_MANY or status >= _SERVER_FAULT:
            wait, free = fault.retry_after_seconds or 0.0, status == _TOO_MANY
            return NoAnswer(message, again=True, cost_nothing=free, wait=wait)
        return NoAnswer(message, outage=status in _REFUSED_FOR_ALL)

    def _shown(self, text: str) -> str:
        text = " ".join(redacted(well_formed(text[: 10 * _SHOWN_CHARS]), self.secrets).split())
        return text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 3]}..."


def _status_error(response: httpx.Response) -> Exception:
    import httpx

    return httpx.HTTPStatusError("", request=response.request, response=response)


@asynccontextmanager
async def _open_http(name: str, settings: SystemConfig) -> AsyncIterator[HttpCaller]:
    """A client for one address; a proxy is for other machines than this one."""
    import httpx

    key, url = system_key(name, settings), settings.target
    header = settings.api_key_header
    bearer = header.lower() == "authorization" and " " not in (key or "")
    headers = {} if key is None else {header: f"Bearer {key}" if bearer else key}
    most = settings.concurrency or AT_ONCE
    limits = httpx.Limits(max_connections=most, max_keepalive_connections=most)
    try:
        httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ConfigError(f"systems.{name}.http {url!r} is no address: {error}; write http://HOST:PORT/PATH") from None
    # The answer is waited for under the gate's own time limit.
    timeout = httpx.Timeout(None, connect=_CONNECT_SECONDS)
    local = is_loopback(urlsplit(url).hostname)
    client = async_http_client(timeout, obeys_environment=not local, headers=headers, limits=limits)
    async with client:
        yield HttpCaller(client, url, () if key is None else (key,))


@dataclass(slots=True)
class FunctionCaller:
    """A function of the user's in this process: plain ones in threads, coroutines on an event loop of their own.

    So neither holds up the other contestants, whose latencies would show it, and neither can hang the run: what takes
    no notice of being given up is left behind in a daemon thread.
    """

    function: Callable[..., Any]
    takes_fields: bool
    is_async: bool
    _loop: asyncio.AbstractEventLoop | None = None
    _thread: threading.Thread | None = None

    @property
    def at_once(self) -> int:
        return AT_ONCE if self.is_async else 1

    async def ask(self, query: SystemQuery) -> Any:
        given = self._now(query) if self.is_async else await asyncio.wrap_future(_in_thread(lambda: self._now(query)))
        if not inspect.isawaitable(given):
            return given
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_awaited(given), self._own_loop()))

    def _now(self, query: SystemQuery) -> Any:
        if self.takes_fields:
            return self.function(query.task.question, query.fields)
        return self.function(query.task.question)

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=_serve, args=(self._loop,), daemon=True, name="system")
            self._thread.start()
        return self._loop

    def close(self) -> None:
        """End the loop; a coroutine that holds it up is left behind with it."""
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_JOIN_SECONDS)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


async def _awaited(given: Awaitable[Any]) -> Any:
    try:
        return await given
    except (UserError, StopIteration, SystemExit, KeyboardInterrupt) as error:
        raise _of_the_system(error) from error


def _in_thread(work: Callable[[], Any]) -> Future[Any]:
    """The result of `work` in a daemon thread: one of a pool would be waited for when the process ends."""
    future: Future[Any] = Future()

    def run() -> None:
        future.set_running_or_notify_cancel()  # from now on a result finds a place, though nobody waits for it
        try:
            future.set_result(work())
        except (UserError, StopIteration) as error:
            future.set_exception(_of_the_system(error))
        except Exception as error:  # noqa: BLE001  it is anyone's code, and the error is handed on
            future.set_exception(error)
        except BaseException as error:  # noqa: BLE001  an exit() in there ends a question, not the run
            future.set_exception(_of_the_system(error))

    threading.Thread(target=run, daemon=True, name="system").start()
    return future


def _of_the_system(error: BaseException) -> StrategyError:
    """What would mean something else in our code than in the system's."""
    return StrategyError(f"it raised {type(error).__name__}: {redacted(well_formed(str(error)))}")


def load_function(name: str, path: str) -> FunctionCaller:
    """The function `package.module:name` of system `name`; the module is imported now.

    Raises:
        ConfigError: it cannot be imported or called, or wants other arguments than the question (and a mapping).
    """
    setting = f"systems.{name}.python"
    with redirect_stdout(sys.stderr):
        function = imported(path, setting)
    if not callable(function):
        raise ConfigError(f"{setting} {path!r} is a {type(function).__name__}, which cannot be called: name a function")
    needed = _needed_arguments(function)
    if needed not in (None, 1, 2):
        raise ConfigError(
            f"{setting} {path!r} needs {needed} arguments: it is given the question's text, and where it takes two a "
            "mapping with id, question and style"
        )
    called = getattr(function, "__call__", None)  # noqa: B004  of an object, the method that is awaited
    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)
    return FunctionCaller(function, needed == 2, is_async)


def _needed_arguments(function: Callable[..., Any]) -> int | None:
    """How many it cannot be called without, at least one where it takes any; None where it does not tell."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    placed = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    listed = any(one.kind == one.VAR_POSITIONAL for one in parameters)
    named = [one for one in parameters if one.kind == one.KEYWORD_ONLY and one.default is one.empty]
    needed = sum(one.default is one.empty for one in placed) + 2 * len(named)
    return max(needed, 1) if placed or listed else 0


@asynccontextmanager
async def open_caller(name: str, settings: SystemConfig) -> AsyncIterator[Caller]:
    """The way in which a system is asked, closed at the end. Raises `ConfigError` where there is none."""
    if settings.http is not None:
        async with _open_http(name, settings) as server:
            yield server
        return
    if settings.command is not None:
        async with open_command(name, settings) as program:
            yield program
        return
    function = load_function(name, settings.target)
    with redirect_stdout(sys.stderr):  # what it prints is not what `--json` prints
        try:
            yield function
        finally:
            function.close()
