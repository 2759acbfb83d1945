"""Read and write files: bounded in size, written whole or not at all; JSON and YAML under one set of rules.

A file or folder that is written appears complete, whoever reads meanwhile and wherever the process dies. JSON and YAML
that cannot be kept end in a `ValueError` or an `OSError` whose text says what is wrong, and in nothing else, however
nested, large or misspelt they are. Of YAML, what the library lets pass is refused with its line: a key given twice in
one mapping (the library lets the last win), aliases that unfold to far more than is written, nesting no setting needs,
numbers too long to be read.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shutil
import stat
import sys
import threading
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from errno import EFBIG, EINVAL
from io import BufferedReader
from pathlib import Path
from typing import Any, NoReturn

import yaml

from arena.errors import ConfigError, UserError

MAX_DEPTH = 100
"""Objects and lists in one another, or levels of YAML. None of our files has ten."""

MAX_BYTES = 1 << 30
"""Of a file that is read as a whole."""

_MAX_DIGITS = 300
"""Of an integer: more do not fit into a double."""


def open_regular(path: Path) -> BufferedReader:
    """Open a file for reading. Raises `OSError` for what is none: a pipe would wait for a writer for ever."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(EINVAL, "it is no regular file", str(path))
    return os.fdopen(descriptor, "rb")


def read_regular(path: Path) -> bytes:
    """The bytes of a file. Raises `OSError` for one that is not regular, or larger than MAX_BYTES."""
    with open_regular(path) as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise OSError(EFBIG, f"it is larger than {MAX_BYTES >> 20:,} MiB", str(path))
    return content


def file_sha256(path: Path) -> str:
    """64 hex digits of the SHA-256 of a file's bytes. Raises `OSError`, also for one that is not regular."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def replacing(target: Path, *, shared: bool = False) -> Iterator[Path]:
    """Give a place for the new content of a file, and put it in the file's place once it is on disk.

    Of two files that are replaced one after the other, no power cut leaves the second new and the first old. Whatever
    is raised meanwhile, `target` is whole, the old one or the new. `shared`: several processes or threads may write
    it, and the last one wins; what a killed one wrote stays behind, while otherwise the next writer takes its place.
    """
    writer = f".{os.getpid()}.{threading.get_ident()}" if shared else ""
    part = target.with_name(f".{target.name}{writer}.part")
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(target)
        sync_folder(target.parent)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def write_whole(target: Path, text: str, *, shared: bool = False) -> None:
    """Put a text (UTF-8) at `target` as `replacing` does. Raises `OSError`."""
    with replacing(target, shared=shared) as part:
        part.write_bytes(text.encode())


@contextmanager
def making_folder(target: Path) -> Iterator[Path]:
    """Give an empty folder, which is put at `target` with all that was written into it, or not at all.

    What is there of an earlier, killed attempt is removed. Raises `OSError`, also where `target` is there by then.
    """
    part = target.with_name(f".{target.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        part.mkdir(parents=True)
        yield part
        part.rename(target)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def sync_folder(folder: Path) -> None:
    """Make the names of new files as durable as their content. Raises `OSError`."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_json(path: Path) -> Any:
    """The JSON value in a file. Raises as `read_regular` and `parse_json` do."""
    return parse_json(read_regular(path))


def parse_json(text: str | bytes) -> Any:
    """The JSON value in a text, in UTF-8.

    Raises:
        ValueError: it is none; or holds NaN, an infinity, a number that no double holds, a key twice in one object,
            half a surrogate pair, or objects and lists nested deeper than MAX_DEPTH.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        value = DECODER.decode(text)
        if text.count("{") + text.count("[") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
            raise ValueError(f"nested deeper than {MAX_DEPTH} objects and lists")
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("half a surrogate pair (\\ud800 to \\udfff alone) is not text") from None
    except json.JSONDecodeError:
        raise
    except (ValueError, RecursionError) as error:
        raise ValueError(fault_of(error)) from None
    return value


def fault_of(error: ValueError | RecursionError) -> str:
    """What `DECODER` found wrong, in words; for a JSON value that is sound but cannot be kept as well."""
    if isinstance(error, RecursionError):
        return "nested deeper than can be read (maximum recursion depth)"
    if "integer string conversion" in str(error):
        return f"an integer of more than {sys.get_int_max_str_digits():,} digits; write it as a string"
    return str(error)


def _depth(value: Any) -> int:
    """How many objects and lists are in one another."""
    depth, layer = 0, [value]
    while layer:
        boxes = [one for one in layer if isinstance(one, dict | list)]
        layer = [inner for box in boxes for inner in (box.values() if isinstance(box, dict) else box)]
        depth += bool(boxes)
    return depth


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits} is larger than any number that can be kept; write it as a string")
    return number


def _bounded(digits: str) -> int:
    if _MAX_DIGITS < len(digits) <= sys.get_int_max_str_digits():
        raise ValueError(f"an integer of more than {_MAX_DIGITS} digits; write it as a string")
    return int(digits)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        twice = next(key for index, (key, _) in enumerate(pairs) if key in dict(pairs[:index]))
        raise ValueError(f"the key {twice!r} is given twice in one object; keep one")
    return fields


DECODER = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_float=_finite, parse_int=_bounded, object_pairs_hook=_unique
)
"""Reads one JSON value; a `ValueError` or `RecursionError` says what is wrong with it, for `fault_of`."""


MOST_ALIASED = 100_000
"""Values that aliases may add to those that are written."""


class _Refused(Exception):  # noqa: N818  it is told as the error of whoever reads
    """The text is YAML, and holds what no file of settings should."""


def parse_yaml(text: str) -> Any:
    """The value that `text` says; None where it says nothing.

    Raises:
        ConfigError: it is not YAML, or holds one of the things that are refused; the message says where, as far as that
            is known, and is to be put after the name of what was read.
    """
    loader = _Loader(text)
    try:
        root = loader.get_single_node()
        if root is None:
            return None
        _check_aliases(root)
        return loader.construct_document(root)
    except _Refused as refused:
        raise ConfigError(f"cannot be taken: {refused}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"is not YAML: {' '.join(str(error).split())}") from None
    finally:
        loader.dispose()


def read_yaml_file(path: Path, what: str, error: type[UserError] = ConfigError) -> Any:
    """The value in a UTF-8 file; `what` the file is, for messages, which are raised as `error`."""
    try:
        return parse_yaml(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise error(f"no {what} file {str(path)!r}: check the path") from None
    except (OSError, UnicodeDecodeError) as fault:
        raise error(f"cannot read {what} {str(path)!r}: {fault}") from None
    except ConfigError as fault:
        raise error(f"{what} {str(path)!r} {fault}") from None


class _Loader(yaml.SafeLoader):
    """The library's safe loader, with the line of what it cannot take."""

    depth = 0

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._checked: set[int] = set()

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.depth >= MAX_DEPTH:
            line = self.line + 1
            raise _Refused(f"line {line} is nested more than {MAX_DEPTH} levels deep")
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except ValueError as error:
            says = str(error).partition(";")[0]
            if "integer string conversion" in says:
                says = f"an integer of more than {sys.get_int_max_str_digits():,} digits"
            raise _Refused(f"line {_line(node)}: {says}; quote it where it is a text") from None

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Called before a mapping is filled: the first time, only what is written stands in it."""
        if id(node) not in self._checked:
            self._checked.add(id(node))
            self._refuse_doubled_keys(node)
        super().flatten_mapping(node)

    def _refuse_doubled_keys(self, node: yaml.MappingNode) -> None:
        lines: dict[Hashable, int] = {}
        for key_node, _ in node.value:
            key = "<<" if key_node.tag == "tag:yaml.org,2002:merge" else self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                continue  # the library says so in its own words
            if key in lines:
                raise _Refused(f"the key {key!r} is given twice, at line {lines[key]} and at line {_line(key_node)}")
            lines[key] = _line(key_node)


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _check_aliases(root: yaml.Node) -> None:
    """Refuse what unfolds to far more values than are written, to endlessly many, or too deep."""
    known: dict[int, tuple[int, int] | None] = {}
    unfolded, _ = _extent(root, known)
    if unfolded - len(known) > MOST_ALIASED:
        raise _Refused(f"its aliases (*NAME) add {unfolded - len(known):,} values to the {len(known):,} written")


def _extent(node: yaml.Node, known: dict[int, tuple[int, int] | None]) -> tuple[int, int]:
    """How many values a node is and how many levels, with all aliases unfolded. `known`: None = being counted."""
    if id(node) in known:
        extent = known[id(node)]
        if extent is None:
            raise _Refused(f"the alias to line {_line(node)} stands inside what it stands for")
        return extent
    known[id(node)] = None
    size, depth = 1, 0
    for child in _children(node):
        below = _extent(child, known)
        size, depth = size + below[0], max(depth, below[1])
    if depth >= MAX_DEPTH:
        raise _Refused(f"line {_line(node)} is nested more than {MAX_DEPTH} levels deep")
    known[id(node)] = extent = size, depth + 1
    return extent


def _children(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        yield from (part for pair in node.value for part in pair)
    elif isinstance(node, yaml.SequenceNode):
        yield from node.value


_STORES = re.compile(
    r"(?<![a-z0-9])(?:s3|s3a|s3n|gs|gcs|az|azure|abfss?|wasbs?|adl|hdfs|webhdfs|oss|cos|r2|b2|swift|dbfs|s?ftp|scp|ssh|file)://",
    re.IGNORECASE,
)
"""Addresses of files, which no option takes; those of servers begin with http."""


def _without_secret(address: str) -> str:
    """An address as it may be shown: without user, password, query and fragment.

    The user is cut off first, up to the last @: a password may hold the marks that end an address.
    """
    scheme, _, rest = address.partition("://")
    return f"{scheme}://{re.split('[?#]', rest.rpartition('@')[2], maxsplit=1)[0]}"


def check_place(text: str, where: str) -> None:
    """Refuse an address in the place of a file or folder: it would become a folder `s3:` on this machine.

    Raises:
        ConfigError: `text`, named by `where`, holds `SCHEME://`.
    """
    if "://" in text:
        raise ConfigError(
            f"{where}: {_without_secret(text)!r} is an address, and files are read and written on this machine alone: "
            "copy them here and back, or mount the store as a folder"
        )


def check_typed(arguments: Iterable[str]) -> None:
    """Refuse addresses of stores of files anywhere on the command line, before a path is made of them.

    Raises:
        ConfigError: an argument holds one.
    """
    for argument in arguments:
        if _STORES.search(argument):
            check_place(argument, "the command line")
