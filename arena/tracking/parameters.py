"""Settings as MLflow parameters: flat and short. What is too long for one is kept whole as a text artifact."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from arena.tracking.names import mlflow_name

PARAM_CHARS = 250
"""The bound of the oldest servers still in use; newer ones take 6,000, which nobody reads in a table."""
_SHOWN_CHARS = 100


@dataclass(frozen=True, slots=True)
class Parameters:
    """`short`: name -> value. `long`: path of a text artifact -> the whole value; its parameter is cut and names it."""

    short: dict[str, str] = field(default_factory=dict)
    long: dict[str, str] = field(default_factory=dict)


def parameters(settings: Mapping[str, Any]) -> Parameters:
    """`settings` flattened: `llm.model`; what is None or empty is left out."""
    found = Parameters()
    for name, text in _flat(settings):
        key = mlflow_name(name)
        if len(text) > PARAM_CHARS:
            path = f"parameters/{key.replace('/', '_')}.txt"
            found.long[path] = text
            text = f"{text[:_SHOWN_CHARS]} ... ({path})"
        found.short[key] = text[:PARAM_CHARS]
    return found


def _flat(settings: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, str]]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{place}{name}.")
        elif value is not None and (text := _text(value)):
            yield f"{place}{name}", text


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in value)
    return str(value)
