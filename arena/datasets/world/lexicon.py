"""The words of the world: lexicon.yaml as kinds of thing, their relations, and every sentence pattern about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from arena.datasets.world.grammar import Kind, Relation, Template
from arena.files import read_yaml_file

_FILE = Path(__file__).with_name("lexicon.yaml")
_TEMPLATES = ("openings", "sentences", "fillers", "asks", "phrases")
"""Fields that hold one template a line."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """All words, in the order of the file, which decides the worlds that are made.

    `relations`: every one under `KIND.RELATION`, the name by which queries and facts refer to it. `vocabulary`: filler
    words by the name of their list. `known_words`: real names that no invented one may be, in lower case.
    """

    kinds: Mapping[str, Kind]
    relations: Mapping[str, Relation]
    vocabulary: Mapping[str, tuple[str, ...]]
    summary_requests: tuple[Template, ...]
    known_words: frozenset[str]


@cache
def lexicon() -> Lexicon:
    """The lexicon, read once a process."""
    content = read_yaml_file(_FILE, "lexicon")
    kinds = {key: _kind(key, fields) for key, fields in content["kinds"].items()}
    return Lexicon(
        kinds,
        {f"{kind.key}.{relation.key}": relation for kind in kinds.values() for relation in kind.relations},
        {name: tuple(words) for name, words in content["vocabulary"].items()},
        _templates(content["summary_requests"]),
        frozenset(content["known_words"].split()),
    )


def _kind(key: str, fields: Mapping[str, Any]) -> Kind:
    relations = tuple(_relation(relation, values) for relation, values in fields["relations"].items())
    return Kind(key=key, **_typed(fields) | {"names": tuple(fields["names"].splitlines()), "relations": relations})


def _relation(key: str, fields: Mapping[str, Any]) -> Relation:
    single = {name: Template(fields[name]) for name in ("says", "clause") if name in fields}
    limits = {"limits": tuple(fields["limits"])} if "limits" in fields else {}
    return Relation(key=key, **_typed(fields) | single | limits)


def _typed(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _templates(value) if name in _TEMPLATES else value for name, value in fields.items()}


def _templates(block: str) -> tuple[Template, ...]:
    return tuple(Template(line) for line in block.splitlines())
