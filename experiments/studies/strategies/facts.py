"""`arena strategies`: all strategies in a table, one of them beside its paper, and labels for Adaptive-RAG.

What is known of a strategy comes from its spec, the same for the command and the docs.
"""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from arena.errors import ConfigError
from arena.store import RunStore
from experiments.execution.scoring import open_past_run
from experiments.studies.strategies.labels import write_labels
from strategies import StrategySpec, find_strategy, strategy_names
from strategies.base import Clause, Edges

_KINDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false", "null": "none"}
_BOUNDS = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to", "exclusiveMaximum": "below"}


@dataclass(frozen=True, slots=True)
class SettingFacts:
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
    settings: tuple[SettingFacts, ...]
    clauses: tuple[Clause, ...]
    roles: Mapping[str, str]
    figure: str


def facts_of(spec: StrategySpec) -> StrategyFacts:
    """Read a spec."""
    card = spec.fidelity
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


def settings_of(schema: Mapping[str, Any]) -> tuple[SettingFacts, ...]:
    """The settings of a JSON schema, in its order."""
    definitions = schema.get("$defs", {})
    return tuple(
        SettingFacts(
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
        items = field.get("prefixItems", [field["items"]] if "items" in field else [])
        kinds = dict.fromkeys(_kind(item, definitions) for item in items)
        return f"list of {' or '.join(kinds)}" if kinds else "list"
    bounds = [f"{word} {field[key]:g}" for key, word in _BOUNDS.items() if key in field]
    return " ".join([_KINDS.get(field.get("type", ""), "value"), *bounds])


def _written(value: Any) -> str:
    """A value as one writes it after `KEY=`."""
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value)


_WIDTH_CHARS = 96


def list_facts() -> tuple[list[StrategyFacts], list[str]]:
    """Every strategy by name, those of other packages included; and a sentence on each that cannot be loaded."""
    listed, problems = [], []
    for name in strategy_names():
        try:
            listed.append(facts_of(find_strategy(name)))
        except ConfigError as error:
            problems.append(str(error))
    return listed, problems


def list_rows(listed: Iterable[StrategyFacts]) -> list[dict[str, Any]]:
    """What the list shows of each, for JSON."""
    return [{"name": one.name, "summary": one.summary, "tier": one.tier, "needs": one.needs} for one in listed]


def list_table(listed: Iterable[StrategyFacts]) -> Table:
    """Name, what it does, the highest tier it can run at, what it needs."""
    table = Table("name", "tier", "needs", "what it does", box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for one in listed:
        table.add_row(Text(one.name), one.tier or "-", Text(", ".join(one.needs) or "nothing"), Text(one.summary))
    return table


def facts_text(facts: StrategyFacts) -> str:
    """Everything, to read in a terminal."""
    return "\n\n".join("\n".join(block) for block in _blocks(facts))


def label_run(run_folder: Path, out: Path, mode: str | None, data_at: str | None = None) -> str:
    """Write the labels of a run's questions to `out`; how many of each there are, and how many come from a prior.

    Raises what `experiments.studies.strategies.labels.write_labels` does.
    """
    store = RunStore.open(run_folder, data_at)
    found = write_labels(store, open_past_run(store).dataset, out, mode)
    by_label = Counter(found.labels.values())
    counts = ", ".join(f"{label}: {by_label[label]:,}" for label in sorted(by_label)) or "none"
    priors = sum(source == "prior" for _, source in found.by_id.values())
    left_out = f"; {found.left_out:,} questions have none" if found.left_out else ""
    return f"{out}: {counts} (of these by prior {priors:,}){left_out}"


def _blocks(facts: StrategyFacts) -> Iterator[list[str]]:
    yield [f"{facts.name}: {facts.summary}"]
    known = (
        ("paper", facts.paper),
        ("tier", f"{facts.tier} at most" if facts.tier else None),
        ("needs", ", ".join(facts.needs) or "nothing"),
        ("asks", "; ".join(f"{role}: {what}" for role, what in facts.roles.items())),
        ("decides", "; ".join(facts.decides)),
    )
    yield [line for label, text in known if text for line in _hung(f"{label:9}", text)]
    if facts.settings:
        yield ["settings", *(line for one in facts.settings for line in _setting_lines(facts.name, one))]
    for status in ("left out", "adapted", "implemented"):
        lines = [line for clause in facts.clauses if clause.status == status for line in _clause_lines(clause)]
        if lines:
            yield [f"of the paper, {status}", *lines]
    yield ["figure (Mermaid)", facts.figure]


def _setting_lines(name: str, setting: SettingFacts) -> Iterator[str]:
    default = "must be given" if setting.default is None else f"default {setting.default}"
    yield f"  {name}:{setting.name}=...   {setting.kind}; {default}"
    yield from _hung("      ", setting.description)


def _clause_lines(clause: Clause) -> Iterator[str]:
    yield from _hung("  - ", clause.says)
    yield from _hung("    ", clause.how)


def _hung(label: str, text: str) -> list[str]:
    """`text` wrapped behind `label`."""
    return textwrap.wrap(text, _WIDTH_CHARS, initial_indent=label, subsequent_indent=" " * len(label))
