"""`arena serve`: the application on a port, until Ctrl-C."""

from __future__ import annotations

import ipaddress
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import EACCES, EADDRINUSE
from pathlib import Path
from types import FrameType

from arena.errors import ConfigError
from experiments.serving.app import build_app
from experiments.terminal.progress import Reporter

_TRIED = 20


def serve_runs(runs_dir: Path, host: str, port: int, reporter: Reporter) -> None:
    """Serve the runs in `runs_dir` until Ctrl-C or SIGTERM, which is no error.

    Args:
        runs_dir: where the run folders are.
        host: address or name to listen on; beyond this machine only if it says so, and with a warning.
        port: 0 = any free one.
        reporter: who hears of the address.

    Raises:
        ConfigError: there is no such folder, or it cannot be listened there; of a port in use it names another.
    """
    import uvicorn

    if not runs_dir.is_dir():
        raise ConfigError(f"there is no folder {str(runs_dir)!r}: name the one that holds the run folders")
    with listening(host, port) as bound:
        loopback = is_loopback(bound)
        app = build_app(runs_dir, loopback=loopback, hosts=names_of(bound, host))
        config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=2)
        if not loopback:
            reporter.warn(
                f"whoever reaches {host} can read these runs, their questions and texts; there is no password"
            )
        reporter.say(f"{address_of(bound, host)}  shows the runs in {runs_dir}; Ctrl-C ends it")
        server = uvicorn.Server(config)
        with _ended_by(server.handle_exit):
            server.run(sockets=[bound])
        reporter.say("stopped; nothing was written")


@contextmanager
def _ended_by(stop: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Have Ctrl-C and SIGTERM call `stop`, also before the server hears them itself and when it hands them on."""
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def is_loopback(bound: socket.socket) -> bool:
    """Whether what listens there can be reached from this machine alone, however its address was written."""
    return ipaddress.ip_address(bound.getsockname()[0]).is_loopback


def names_of(bound: socket.socket, host: str) -> frozenset[str]:
    """What a browser that was given the address may call it: as it was typed, and as it is bound."""
    return frozenset(_bracketed(name) for name in (host, str(bound.getsockname()[0])))


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens there. Raises as `serve_runs`."""
    if not host.strip():
        raise ConfigError("--host is empty: 127.0.0.1 is this machine only, 0.0.0.0 whoever reaches it")
    try:
        return _bind(host, port)
    except OSError as error:
        if error.errno == EADDRINUSE:
            other = next((free for free in range(port + 1, min(port + _TRIED, 65536)) if _is_free(host, free)), 0)
            raise ConfigError(f"port {port} of {host} is in use: take --port {other}") from None
        hint = "choose a port from 1024 up" if error.errno == EACCES else "check --host and --port"
        raise ConfigError(f"cannot listen on port {port} of {host!r}: {error.strerror or error}; {hint}") from None


def address_of(bound: socket.socket, host: str) -> str:
    """What to type into a browser."""
    return f"http://{_bracketed(host)}:{bound.getsockname()[1]}/"


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family)


def _is_free(host: str, port: int) -> bool:
    try:
        _bind(host, port).close()
    except OSError:
        return False
    return True
