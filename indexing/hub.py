"""Models of the hub that are not pinned here: any repository, at the commit it had when it was first fetched.

A download survives a cut line: a file grows under a `.part` name and is resumed where it stopped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import httpx

from arena import network
from arena.errors import WeightsError
from arena.files import read_json, write_whole
from arena.network import check_network_environment
from indexing.files import Progress, silent

COMPLETE = ".complete.json"
_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_SETTINGS = (".json", ".txt", ".model", ".pt", ".py")
_OTHER_FORMATS = {"onnx", "openvino"}


def is_hub_name(name: str) -> bool:
    """Whether `name` reads as ORG/NAME and not as a path: it starts with no dot, and there is no folder ORG here."""
    if name.startswith(".") or _NAME.fullmatch(name) is None:
        return False
    return not Path(name.partition("/")[0]).is_dir()


def fetch_repository(
    name: str, revision: str | None, root: Path, progress: Progress = silent, *, endpoint: str | None = None
) -> Path:
    """The folder under `root` that holds the model `name` (ORG/NAME) at `revision`, downloaded first if needed.

    A download is resumed where it stopped, and once complete asks no network again: a branch stays at the commit it
    had (see `repository_commit`). `endpoint` None is the hub that huggingface_hub is set up for. Raises
    `WeightsError` saying what to fetch and where to place it.
    """
    folder = root / "hub" / f"{name.replace('/', '--')}@{(revision or 'main').replace('/', '--')}"
    if repository_commit(folder) is not None:
        return folder
    import huggingface_hub
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError
    from requests import RequestException

    check_network_environment()
    try:
        with _no_bars():
            api = huggingface_hub.HfApi(endpoint=endpoint)
            info = api.model_info(name, revision=revision, files_metadata=True)
            sizes = {file.rfilename: file.size or 0 for file in info.siblings or ()}
            wanted = _wanted(list(sizes))
            total, done = sum(sizes[path] for path in wanted), 0
            for path in wanted:
                progress(done, total, name)
                api.hf_hub_download(name, path, revision=info.sha, local_dir=folder)
                done += sizes[path]
            progress(done, total, name)
        write_whole(folder / COMPLETE, json.dumps({"repository": name, "commit": info.sha}), shared=True)
    except (HfHubHTTPError, HFValidationError, RequestException, OSError, ValueError) as error:
        at = f" at revision {revision!r}" if revision else ""
        raise WeightsError(
            f"cannot fetch the model {name!r}{at} from the hub: {_first_line(error)}; check the name, or, without a "
            "network, copy the repository's files into a folder and give that folder as the model"
        ) from error
    return folder


def repository_commit(folder: Path) -> str | None:
    """The commit that `fetch_repository` brought wholly into `folder`; None for any other folder."""
    try:
        commit = read_json(folder / COMPLETE)["commit"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return commit if isinstance(commit, str) and commit else None


def _wanted(paths: Sequence[str]) -> list[str]:
    """Settings, code and tokenizers, then weights; pickled weights only where there are no safetensors."""
    files = [PurePosixPath(path) for path in paths if not _OTHER_FORMATS & set(PurePosixPath(path).parts)]
    safe = {file.parent for file in files if file.suffix == ".safetensors"}
    settings = [str(file) for file in files if file.suffix in _SETTINGS]
    weights = [str(f) for f in files if f.suffix == ".safetensors" or (f.suffix == ".bin" and f.parent not in safe)]
    if not weights:
        raise ValueError("the repository holds no PyTorch weights")
    return sorted(settings) + sorted(weights)


@contextmanager
def _no_bars() -> Iterator[None]:
    """Progress is reported to the caller; a second bar would draw over it."""
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    if are_progress_bars_disabled():
        yield
        return
    disable_progress_bars()
    try:
        yield
    finally:
        enable_progress_bars()


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


TIMEOUT = httpx.Timeout(30, connect=5)  # an unreachable host must not hold up the next source
ATTEMPTS = 4  # connections spent on one file before giving up until the next run


class DownloadError(Exception):
    """A file did not arrive; what did is kept for the next attempt."""


def http_client() -> httpx.Client:
    """A client that follows redirects and honours the proxy and certificate settings of the machine."""
    return network.http_client(TIMEOUT, follow_redirects=True, headers={"Accept-Encoding": "identity"})


def download(client: httpx.Client, url: str, target: Path, progress: Callable[[int, int | None], None]) -> None:
    """Leave the body of `url` at `target`. `progress` gets the bytes that are here and the total, None if unknown.

    Bytes of an earlier, interrupted call are not asked for again. Raises `DownloadError`.
    """
    part = target.with_name(target.name + ".part")
    part.parent.mkdir(parents=True, exist_ok=True)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _continue(client, url, part, progress)
        except httpx.HTTPError as error:
            unreachable = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.HTTPStatusError)
            if unreachable or attempt == ATTEMPTS:
                raise DownloadError(reason(error)) from error
        else:
            part.replace(target)
            return


def reason(error: httpx.HTTPError) -> str:
    """Why an HTTP exchange failed, in one line."""
    if isinstance(error, httpx.HTTPStatusError):
        return f"{error.request.url.host} answers {error.response.status_code} for {error.request.url.path}"
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return f"cannot be reached ({str(error) or type(error).__name__})"
    return f"the connection broke off ({str(error) or type(error).__name__}); run again to resume"


def _continue(client: httpx.Client, url: str, part: Path, progress: Callable[[int, int | None], None]) -> None:
    here = part.stat().st_size if part.exists() else 0
    with client.stream("GET", url, headers={"Range": f"bytes={here}-"} if here else {}) as response:
        if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            if _total(response) == here:
                return  # the last byte had arrived; only the renaming was missed
            part.unlink()
            raise httpx.ReadError("the partial file does not fit the remote one", request=response.request)
        response.raise_for_status()
        resumed = response.status_code == httpx.codes.PARTIAL_CONTENT
        here = here if resumed else 0  # a server without ranges starts over
        total = _total(response)
        with part.open("ab" if resumed else "wb") as stream:
            progress(here, total)
            for block in response.iter_raw():  # as it comes: a buffer would lose its content when the line breaks
                here += stream.write(block)
                progress(here, total)


def _total(response: httpx.Response) -> int | None:
    """Size of the whole file, whatever part of it this response carries."""
    span = re.fullmatch(r"bytes .*/(\d+)", response.headers.get("Content-Range", ""))
    if span:
        return int(span[1])
    length = response.headers.get("Content-Length")
    return int(length) if length is not None and response.is_success else None
