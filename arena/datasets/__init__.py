"""Datasets by name. A spec is `NAME` or `NAME:ARGUMENT`, as in `musique:data/dev.jsonl`.

Packages outside this one add datasets through entry points: group `arena.datasets`, name = the dataset's,
value = a `DatasetEntry`. A name of our own table cannot be taken over.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from arena.datasets.jsonl import load_jsonl_corpus
from arena.datasets.records import is_known_as
from arena.datasets.table import DatasetEntry, known_datasets
from arena.errors import DatasetError, UnknownNameError
from arena.types import Dataset

__all__ = ["DatasetEntry", "dataset_entry", "dataset_names", "is_known_as", "load_corpus", "load_dataset"]

PLUGIN_GROUP = "arena.datasets"


def load_dataset(spec: str, plugins: Iterable[EntryPoint] | None = None) -> Dataset:
    """The dataset a user asked for, under the name the user gave it.

    `plugins`: entry points to consider beside the table; None = those of the installed packages.

    Raises:
        UnknownNameError: no dataset of that name.
        DatasetError: the argument, a data file or a plugin is at fault.
    """
    if "\0" in spec:
        raise DatasetError(f"dataset {spec!r} holds a null character: no path does")
    name, _, argument = spec.partition(":")
    return replace(dataset_entry(name, plugins).build(argument or None), name=spec)


def load_corpus(spec: str, plugins: Iterable[EntryPoint] | None = None) -> Dataset:
    """The documents of `spec`, to be searched only; a `jsonl:` folder needs no questions. Raises as `load_dataset`."""
    name, _, argument = spec.partition(":")
    if name == "jsonl" and argument and "\0" not in argument:
        return replace(load_jsonl_corpus(Path(argument).expanduser()), name=spec)
    return load_dataset(spec, plugins)


def dataset_names(plugins: Iterable[EntryPoint] | None = None) -> tuple[str, ...]:
    """All known names, sorted. No plugin is imported."""
    return tuple(sorted(known_datasets().keys() | _by_name(plugins).keys()))


def dataset_entry(name: str, plugins: Iterable[EntryPoint] | None = None) -> DatasetEntry:
    """The entry of one name; a plugin's is imported now. Raises as `load_dataset` does."""
    known = known_datasets()
    if name in known:
        return known[name]
    found = _by_name(plugins)
    if name not in found:
        raise UnknownNameError("dataset", name, known.keys() | found.keys())
    origin = f"the plugin for dataset {name!r} ({found[name].value})"
    try:
        entry = found[name].load()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise DatasetError(f"{origin} cannot be imported: {reason}; mend or uninstall the package") from error
    if not isinstance(entry, DatasetEntry):
        raise DatasetError(f"{origin} is a {type(entry).__name__}, not a DatasetEntry; mend or uninstall the package")
    return entry


def _by_name(plugins: Iterable[EntryPoint] | None) -> dict[str, EntryPoint]:
    found = entry_points(group=PLUGIN_GROUP) if plugins is None else plugins
    return {plugin.name: plugin for plugin in found}
