"""A verdict on a terminal, as JSON, and in files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.text import Text

from arena.report.text import Part, Rows, print_parts
from arena.store.files import replace_text
from experiments.gating.figures import HEADINGS, HOW_TO_READ, N_NAMES, figures_of
from experiments.gating.junit import verdict_junit
from experiments.gating.markdown import verdict_markdown
from experiments.gating.summary import by_outcome, command, headline, reasons
from experiments.gating.verdict import GateVerdict
from experiments.terminal.tables import Console, as_json


def write_gate(
    verdict: GateVerdict,
    console: Console,
    *,
    markdown: Path | None = None,
    junit: Path | None = None,
    json: bool = False,
) -> None:
    """Write the files that are asked for, each whole or not at all, and print the verdict.

    Raises:
        RunStoreError: a file cannot be written.
    """
    if markdown is not None:
        replace_text(markdown, verdict_markdown(verdict))
    if junit is not None:
        replace_text(junit, f'<?xml version="1.0" encoding="UTF-8"?>\n{verdict_junit(verdict)}\n')
    if json:
        console.file.write(as_json(verdict_fields(verdict)) + "\n")
        return
    rows = tuple(figures_of(check, stops=verdict.stops(check)) for check in by_outcome(verdict))
    style = "bold green" if verdict.passed else "bold red"
    parts: list[Part] = [Rows(HEADINGS, rows, N_NAMES), *reasons(verdict), *verdict.notes, HOW_TO_READ]
    print_parts([*parts, Text(headline(verdict), style=style)], console)


def verdict_fields(verdict: GateVerdict) -> dict[str, Any]:
    """The same as one mapping, nothing rounded."""
    return {
        "schema_version": 1,
        "passed": verdict.passed,
        "headline": headline(verdict),
        "run": str(verdict.run),
        "baseline": None if verdict.baseline is None else str(verdict.baseline),
        "policy": verdict.policy.model_dump(mode="json"),
        "checks": [asdict(check) | {"stops": verdict.stops(check)} for check in verdict.checks],
        "notes": list(verdict.notes),
        "reproduce": command(verdict),
    }
