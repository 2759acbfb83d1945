"""What there is to know about a strategy, from its spec: one source for the command and the docs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strategies import StrategySpec
from strategies.base import Clause, Edges

_KINDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false", "null": "none"}
_BOUNDS = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to", "exclusiveMaximum": "below"}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. `kind` names its values and their range; `default` is as one writes it (None: it must be given)."""

    name: str
    kind: str
    default: str | None
    description: str


@dataclass(frozen=True, slots=True)
class StrategyFacts:
    """A strategy beside its paper.

    `needs` holds under the default settings; `roles`: what it asks a model for; `figure`: its graph as a Mermaid
    flowchart.
    """

    name: str
    summary: str
    tier: str | None
    needs: tuple[str, ...]
    paper: str | None
    decides: tuple[str, ...]
    settings: tuple[Setting, ...]
    clauses: tuple[Clause, ...]
    roles: Mapping[str, str]
    figure: str


def facts_of(spec: StrategySpec) -> StrategyFacts:
    """Read a spec."""
    card = spec.card
    return StrategyFacts(
        name=spec.name,
        summary=spec.summary,
        tier=spec.tier,
        needs=_needs(spec),
        paper=card.paper if card else None,
        decides=card.decides if card else (),
        settings=settings_of(spec.params.model_json_schema()),
        clauses=card.clauses if card else (),
        roles=dict(spec.roles),
        figure=mermaid(spec.figure),
    )


def settings_of(schema: Mapping[str, Any]) -> tuple[Setting, ...]:
    """The settings of a JSON schema, in its order."""
    definitions = schema.get("$defs", {})
    return tuple(
        Setting(
            name,
            _kind(field, definitions),
            _written(field["default"]) if "default" in field else None,
            " ".join(field.get("description", "").split()),
        )
        for name, field in schema.get("properties", {}).items()
    )


def mermaid(figure: Edges) -> str:
    """A figure's edges as a Mermaid flowchart, in order of distance from the start, then by name."""
    distance = {"__start__": 0}
    frontier = ["__start__"]
    while frontier:
        source = frontier.pop(0)
        for target in sorted(target for start, target in figure if start == source):
            if target not in distance:
                distance[target] = distance[source] + 1
                frontier.append(target)
    far = len(figure) + 1
    edges = sorted(figure, key=lambda edge: (distance.get(edge[0], far), edge[0], distance.get(edge[1], far), edge[1]))
    return "\n".join(["flowchart TD", *(f"    {_node(source)} --> {_node(target)}" for source, target in edges)])


def _node(name: str) -> str:
    ends = {"__start__": "__start__([start])", "__end__": "__end__([end])"}
    return ends.get(name, name)


def _needs(spec: StrategySpec) -> tuple[str, ...]:
    evidence = "an index" if spec.evidence == "index" else None if spec.evidence == "none" else "gold documents"
    model = "a model" if spec.needs_model else None
    given = any(setting.is_required() for setting in spec.params.model_fields.values())
    external = "an external source" if not given and spec.uses_external(spec.params()) else None
    return tuple(need for need in (evidence, model, external) if need)


def _kind(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """Values and range in words."""
    if "$ref" in field:
        return _kind(definitions[field["$ref"].rpartition("/")[2]], definitions)
    if "enum" in field:
        return " | ".join(map(_written, field["enum"]))
    if "const" in field:
        return _written(field["const"])
    if "anyOf" in field:
        return " or ".join(_kind(option, definitions) for option in field["anyOf"])
    if field.get("type") == "array":
        items = _items(field)
        kinds = dict.fromkeys(_kind(item, definitions) for item in items)
        return f"list of {' or '.join(kinds)}" if kinds else "list"
    bounds = [f"{word} {field[key]:g}" for key, word in _BOUNDS.items() if key in field]
    return " ".join([_KINDS.get(field.get("type", ""), "value"), *bounds])


def _items(field: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    if "prefixItems" in field:
        return list(field["prefixItems"])
    return [field["items"]] if "items" in field else []


def _written(value: Any) -> str:
    """A value as one writes it after `KEY=`."""
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value)
