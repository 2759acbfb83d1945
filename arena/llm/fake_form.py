"""How the fake model fills in a form: the smallest value that a JSON schema allows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

Schema = Mapping[str, Any]

_DEEPEST = 12


def asked_schema(turns: Sequence[str], response_format: object) -> Schema | None:
    """The schema that a reply is to keep: of `response_format`, else of the latest turn whose last line is a schema.

    None = no form is asked for. JSON mode without a schema is a form without fields.
    """
    wanted = response_format if isinstance(response_format, Mapping) else {}
    if wanted.get("type") == "json_schema":
        schema = wanted["json_schema"]["schema"]
        return schema if isinstance(schema, Mapping) else {}
    for turn in reversed(turns):
        schema = _schema_of_line(turn.rstrip().rpartition("\n")[2])
        if schema is not None:
            return schema
    return {"type": "object"} if wanted.get("type") == "json_object" else None


def filled_form(schema: Schema, text: str) -> str:
    """The smallest value of `schema` as JSON: fields that must be there, one item a list, and `text` for every text.

    The first is taken of every choice; numbers are as near to 0 as may be. Patterns and formats are not kept.
    """
    return json.dumps(_Filler(schema, text).value(schema, 0), ensure_ascii=False)


class _Filler:
    def __init__(self, root: Schema, text: str) -> None:
        self._root = root
        self._text = text

    def value(self, schema: Any, depth: int) -> Any:
        if not isinstance(schema, Mapping) or depth > _DEEPEST:
            return None
        if "$ref" in schema:
            return self.value(self._referred(str(schema["$ref"])), depth + 1)
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return schema["enum"][0]
        for choice in ("anyOf", "oneOf"):
            if schema.get(choice):
                return self.value(schema[choice][0], depth + 1)
        if schema.get("allOf"):
            merged = {key: value for part in schema["allOf"] for key, value in part.items()}
            return self.value({**schema, "allOf": None, **merged}, depth + 1)
        return self._of_kind(_kind(schema), schema, depth)

    def _of_kind(self, kind: str, schema: Schema, depth: int) -> Any:
        if kind == "object":
            properties = schema.get("properties", {})
            return {name: self.value(properties.get(name, {}), depth + 1) for name in schema.get("required", ())}
        if kind == "array":
            return self._items(schema, depth)
        if kind in ("integer", "number"):
            return _number(schema, whole=kind == "integer")
        if kind in ("boolean", "null"):
            return True if kind == "boolean" else None
        longest = schema.get("maxLength", len(self._text) + schema.get("minLength", 0))
        return self._text.ljust(schema.get("minLength", 0), ".")[:longest]

    def _items(self, schema: Schema, depth: int) -> list[Any]:
        first = list(schema.get("prefixItems", ()))
        few = schema.get("minItems", 0)
        wanted = few if depth > _DEEPEST // 2 else max(few, len(first), 1)
        number = min(wanted, schema.get("maxItems", wanted))
        return [
            self.value(first[place] if place < len(first) else schema.get("items", {}), depth + 1)
            for place in range(number)
        ]

    def _referred(self, pointer: str) -> Any:
        found: Any = self._root
        for part in pointer.removeprefix("#").strip("/").split("/"):
            if part:
                found = found.get(part, {}) if isinstance(found, Mapping) else {}
        return found


def _kind(schema: Schema) -> str:
    kind = schema.get("type", "object" if "properties" in schema else "string")
    return str(kind[0] if isinstance(kind, list) and kind else kind)


def _number(schema: Schema, *, whole: bool) -> float | int:
    step = 1 if whole else 1e-6
    lowest = max(
        (schema[key] + more for key, more in (("minimum", 0), ("exclusiveMinimum", step)) if key in schema),
        default=None,
    )
    highest = min(
        (schema[key] - less for key, less in (("maximum", 0), ("exclusiveMaximum", step)) if key in schema),
        default=None,
    )
    number: float | int = 0
    if lowest is not None:
        number = max(number, lowest)
    return number if highest is None else min(number, highest)


def _schema_of_line(line: str) -> Schema | None:
    if not line.startswith("{"):
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return (
        found if isinstance(found, dict) and found.keys() & {"type", "properties", "$ref", "$defs", "anyOf"} else None
    )
