"""What may stand after `ragrouter:`: a config or a folder, then, after another colon, a MuSiQue file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from arena.datasets.ragrouter.editions import EDITIONS, Edition, edition_named
from arena.errors import DatasetError

FROM_HUB = "hub"
"""In place of a MuSiQue file: the pinned copy on the hub."""


@dataclass(frozen=True, slots=True)
class Request:
    """`source`: a config to be fetched or a folder that holds its files.

    `musique`: the file that knows the evidence of the original questions, `hub`, or None for what is usual: a file
    of the official name in the folder, the hub for the config of that name.
    """

    source: Edition | Path
    musique: str | None = None


def read_request(argument: str | None) -> Request:
    """What `argument` asks for; None is the config musique.

    A folder that exists is a folder, even if it bears the name of a config. The source ends at the first colon before
    which a config or a folder stands, so both paths may hold colons.

    Raises:
        DatasetError: neither a config nor a folder, or a MuSiQue file for a config that needs none.
    """
    if argument is None:
        return Request(EDITIONS[0])
    colons = [at for at, character in enumerate(argument) if character == ":"]
    for end in (len(argument), *colons):
        source = _source(argument[:end])
        if source is not None:
            return _checked(Request(source, argument[end + 1 :] or None), argument)
    if "/" in argument or "\\" in argument:
        raise DatasetError(f"ragrouter:{argument}: no such folder; check the path (relative to {Path.cwd()})")
    known = ", ".join(edition.alias for edition in EDITIONS)
    raise DatasetError(f"ragrouter:{argument}: neither a config ({known}) nor a folder here; write one of these")


def _source(text: str) -> Edition | Path | None:
    if not text:
        return None
    folder = Path(text).expanduser()
    return folder if folder.is_dir() else edition_named(text)


def _checked(request: Request, argument: str) -> Request:
    if isinstance(request.source, Edition) and not request.source.from_musique and request.musique:
        raise DatasetError(
            f"ragrouter:{argument}: a MuSiQue file belongs to the config musique only; "
            f"write ragrouter:{request.source.alias}"
        )
    return request
