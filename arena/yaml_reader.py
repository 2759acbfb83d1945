"""The one reader of YAML: every file of settings, and every value typed after `NAME=`.

What the library lets pass is refused with its line: a key given twice in one mapping (the library lets the last win),
aliases that unfold to far more than is written, nesting no setting needs, numbers too long to be read.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

import yaml

from arena.errors import ConfigError, UserError

DEEPEST = 100
"""Levels of nesting; settings have five."""
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
        if self.depth >= DEEPEST:
            line = self.line + 1
            raise _Refused(f"line {line} is nested more than {DEEPEST} levels deep")
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
    if depth >= DEEPEST:
        raise _Refused(f"line {_line(node)} is nested more than {DEEPEST} levels deep")
    known[id(node)] = extent = size, depth + 1
    return extent


def _children(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        yield from (part for pair in node.value for part in pair)
    elif isinstance(node, yaml.SequenceNode):
        yield from node.value
