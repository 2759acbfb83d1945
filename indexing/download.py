"""Downloads that survive a cut line: a file grows under a `.part` name and is resumed where it stopped."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import httpx

from arena import network

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
