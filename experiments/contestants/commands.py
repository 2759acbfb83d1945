"""`arena strategies`: all contestants in a table, one of them beside its paper, and labels for Adaptive-RAG."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from arena.errors import ConfigError
from arena.store import RunStore
from experiments.contestants.facts import Setting, StrategyFacts, facts_of
from experiments.contestants.labels import write_labels
from experiments.run.scoring import open_past_run
from strategies import find_strategy, strategy_names
from strategies.base import Clause

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


def show_facts(name: str) -> StrategyFacts:
    """One strategy, by its name without settings.

    Raises:
        UnknownNameError: there is none of that name.
    """
    return facts_of(find_strategy(name))


def facts_text(facts: StrategyFacts) -> str:
    """Everything, to read in a terminal."""
    return "\n\n".join("\n".join(block) for block in _blocks(facts))


def label_run(run_folder: Path, out: Path, mode: str | None, data_at: str | None = None) -> str:
    """Write the labels of a run's questions to `out`; how many of each there are, and how many come from a prior.

    Raises what `experiments.contestants.labels.write_labels` does.
    """
    store = RunStore.open(run_folder, data_at)
    found = write_labels(store, open_past_run(store).dataset, out, mode)
    by_label = Counter(found.labels.values())
    counts = ", ".join(f"{label}: {by_label[label]:,}" for label in sorted(by_label)) or "none"
    priors = sum(count for (source, _), count in found.counts.items() if source == "prior")
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


def _setting_lines(name: str, setting: Setting) -> Iterator[str]:
    default = "must be given" if setting.default is None else f"default {setting.default}"
    yield f"  {name}:{setting.name}=...   {setting.kind}; {default}"
    yield from _hung("      ", setting.description)


def _clause_lines(clause: Clause) -> Iterator[str]:
    yield from _hung("  - ", clause.says)
    yield from _hung("    ", clause.how)


def _hung(label: str, text: str) -> list[str]:
    """`text` wrapped behind `label`."""
    return textwrap.wrap(text, _WIDTH_CHARS, initial_indent=label, subsequent_indent=" " * len(label))
