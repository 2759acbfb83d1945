"""Data files told by their content: unpacked where they are packed, named where they hold no data."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from arena.errors import DatasetError

PARQUET = b"PAR1"
_HEAD = 4096
_LAYERS = 3
"""A gzip in a zip is unpacked; more layers are a bomb or a mistake."""
_SHOWN = 3


@contextmanager
def open_data(path: Path) -> Iterator[tuple[bytes, BinaryIO]]:
    """The first bytes of a file, white space and byte order mark left out, and all of its bytes, unpacked.

    gzip, bzip2, xz, zstd and a zip of one file are unpacked. Only a file that needed none of that can be sought in.
    What cannot be read while the caller reads on is told here too.

    Raises:
        DatasetError: the file is missing, a folder, unreadable or cut short; or it is known and no data: a Git LFS
            pointer, a web page, an archive of several files, UTF-16 text, a document, a database.
    """
    try:
        if path.is_dir():
            raise DatasetError(f"{path} is a folder; name the data file in it")
        with ExitStack() as stack:
            head, stream = _unpacked(path, stack)
            if what := _no_data(head):
                raise DatasetError(f"{path} is {what}")
            yield head.removeprefix(codecs.BOM_UTF8).lstrip(), stream
    except FileNotFoundError:
        raise DatasetError(f"{path}: no such file; check the path (relative to {Path.cwd()})") from None
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        raise DatasetError(f"{path} is packed, and damaged or cut short ({error}); fetch it again") from None
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}") from error


class _Rest(io.RawIOBase):
    """A stream that cannot be sought in, with the bytes in front that were already read from it."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self._head, self._stream = head, stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        block = self._head or self._stream.read(len(view))
        self._head = block[len(view) :]
        given = len(block) - len(self._head)
        view[:given] = block[:given]
        return given


def _unpacked(path: Path, stack: ExitStack) -> tuple[bytes, BinaryIO]:
    head, stream = _looked_at(stack.enter_context(path.open("rb")), sought=True)
    for _ in range(_LAYERS):
        unpack = next((unpack for magic, unpack in _PACKINGS.items() if head.startswith(magic)), None)
        if unpack is None:
            return head, stream
        head, stream = _looked_at(stack.enter_context(unpack(path, stream)), sought=False)
    raise DatasetError(f"{path} is packed more than {_LAYERS} times over; unpack it and name the file in it")


def _looked_at(stream: BinaryIO, *, sought: bool) -> tuple[bytes, BinaryIO]:
    """The stream's first bytes, some of them no white space, and the whole of it."""
    head = b""
    while block := stream.read(_HEAD):
        head += block
        if head.removeprefix(codecs.BOM_UTF8).strip():
            break
    if sought and stream.seekable():
        stream.seek(0)
        return head, stream
    return head, cast(BinaryIO, io.BufferedReader(_Rest(head, stream)))


def _zip_member(path: Path, stream: BinaryIO) -> BinaryIO:
    archive = zipfile.ZipFile(stream if stream.seekable() else io.BytesIO(stream.read()))
    names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX")]
    if len(names) != 1:
        shown = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
        raise DatasetError(f"{path} is a zip archive of {len(names)} files ({shown}); unpack it and name one")
    try:
        return cast(BinaryIO, archive.open(names[0]))
    except (RuntimeError, NotImplementedError) as error:  # a password, or an exotic way of packing
        raise DatasetError(f"{path} is a zip archive that cannot be unpacked here ({error}); unpack it") from None


def _zstd(path: Path, stream: BinaryIO) -> BinaryIO:
    import pyarrow as pa

    return cast(BinaryIO, pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd"))


_PACKINGS: Mapping[bytes, Callable[[Path, BinaryIO], BinaryIO]] = {
    b"\x1f\x8b": lambda path, stream: cast(BinaryIO, gzip.GzipFile(fileobj=stream)),
    b"BZh": lambda path, stream: cast(BinaryIO, bz2.BZ2File(stream)),
    b"\xfd7zXZ\x00": lambda path, stream: cast(BinaryIO, lzma.LZMAFile(stream)),  # noqa: SIM115  closed by `open_data`
    b"\x28\xb5\x2f\xfd": _zstd,
    b"PK\x03\x04": _zip_member,
    b"PK\x05\x06": _zip_member,
}
"""First bytes of a packed file -> how its content is read."""

_NO_DATA: Mapping[bytes, str] = {
    b"version https://git-lfs.github.com/": "a Git LFS pointer, not the data it stands for; fetch them: git lfs pull",
    b"%PDF": "a PDF document; extract its text first",
    b"SQLite format 3": "an SQLite database; export it as JSON lines",
    b"ARROW1": "an Arrow file; save it as Parquet or JSON lines",
    b"\xff\xfe": "UTF-16 text; save the file as UTF-8",
    b"\xfe\xff": "UTF-16 text; save the file as UTF-8",
    b"7z\xbc\xaf": "a 7z archive; unpack it and name the file in it",
    b"Rar!": "a RAR archive; unpack it and name the file in it",
}
"""First bytes of a file that is known and holds no records -> what to say of it."""


def _no_data(head: bytes) -> str | None:
    """What a file is that holds no records; None where it may hold some."""
    for magic, what in _NO_DATA.items():
        if head.startswith(magic):
            return what
    if head[257:262] == b"ustar":
        return "a tar archive; unpack it and name the file in it"
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if start[:1] == b"<":
        found = re.search(rb"<title[^>]*>(.*?)</title>", start, re.IGNORECASE | re.DOTALL)
        title = " ".join(found[1].decode("utf-8", "replace").split())[:80] if found else ""
        return (
            f"a web page{f' ({title!r})' if title else ''} saved under the name of the data, as a login or an error "
            "gives it; fetch the file itself"
        )
    return None
