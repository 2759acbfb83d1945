"""A gate's verdict on a terminal, as JSON, as Markdown for a pull request, and as JUnit XML.

JUnit has one test case per check and one suite per cell. Figures have three digits: margins are hundredths, and changes
are smaller. Text that comes from data is written so that XML can hold it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from rich.text import Text

from arena.report.figures import UNDEFINED, p_text, usd_text
from arena.report.names import listed
from arena.report.text import Part, Rows, markdown_table, print_parts
from arena.store.files import replace_text
from arena.types import grouped
from experiments.studies.gate.checks import Check, GateVerdict
from experiments.studies.gate.policy import SPENDING
from experiments.terminal.tables import Console, as_json

HEADINGS = ("cell", "metric", "n", "baseline", "run", "change", "at worst", "limit", "p", "would catch", "outcome")
N_NAMES = 2
"""The first of them are names, the others figures."""

HOW_TO_READ = (
    "change: run - baseline, of tokens, usd and seconds run / baseline - 1. at worst: its one-sided confidence bound. "
    "limit: the margin (floor, ceiling) of the policy. p: chance of such a change were nothing worse, after Holm; not "
    "asked where the change does not reach the margin. would catch: the true change for the worse that this check "
    "would have failed 4 times in 5; smaller ones may have been missed."
)

_SIGNS = {"floor": "\N{GREATER-THAN OR EQUAL TO} ", "ceiling": "\N{LESS-THAN OR EQUAL TO} "}


def figures_of(check: Check, *, stops: bool) -> tuple[str, ...]:
    """One row under HEADINGS. `stops`: it fails the gate."""
    return (
        check.cell,
        check.metric,
        str(check.n) if check.n else UNDEFINED,
        value_text(check.metric, check.old),
        value_text(check.metric, check.new),
        change_text(check.metric, check.change),
        _at_worst(check),
        _limit(check),
        p_text(check.p_adjusted),
        UNDEFINED if check.catches is None else _size(check.metric, check.catches),
        outcome_text(check, stops=stops),
    )


def outcome_text(check: Check, *, stops: bool) -> str:
    """As in `FAIL`; lower case where the gate passes all the same."""
    if stops:
        return "FAIL" if check.outcome == "fail" else "FAIL (inconclusive)"
    return "fail (warns only)" if check.outcome == "fail" else check.outcome


def value_text(metric: str, value: float | None) -> str:
    """A mean or percentile in the metric's unit."""
    if value is None:
        return UNDEFINED
    if metric == "usd":
        return usd_text(value)
    return f"{value:,.0f}" if metric == "tokens" else f"{value:.2f}" if metric == "p95_seconds" else f"{value:.3f}"


def change_text(metric: str, change: float | None) -> str:
    """With its sign; of spending in percent."""
    if change is None:
        return UNDEFINED
    return f"{round(100 * change, 1) + 0.0:+.1f} %" if metric in SPENDING else f"{round(change, 3) + 0.0:+.3f}"


def _at_worst(check: Check) -> str:
    return (
        value_text(check.metric, check.at_worst) if check.change is None else change_text(check.metric, check.at_worst)
    )


def _limit(check: Check) -> str:
    if check.limit is None:
        return UNDEFINED
    if check.kind in _SIGNS:
        return _SIGNS[check.kind] + value_text(check.metric, check.limit)
    return _size(check.metric, check.limit)


def _size(metric: str, size: float) -> str:
    return f"{100 * size:.1f} %" if metric in SPENDING else f"{size:.3f}"


_NAMED = 3


def headline(verdict: GateVerdict) -> str:
    """Whether it passed, how many checks came out how, and the first of those that failed it."""
    stopping = verdict.stopping
    counts = (
        f"{verdict.count('pass')} passed, {verdict.count('inconclusive')} inconclusive, {verdict.count('fail')} failed"
    )
    if not stopping:
        return f"Gate passed: of {len(verdict.checks)} checks {counts}."
    return f"Gate FAILED by {listed([*map(_named, stopping)], _NAMED)}. Of {len(verdict.checks)} checks {counts}."


def reasons(verdict: GateVerdict) -> Iterator[str]:
    """One line per reason, and where it holds: of all checks that did not pass, those that stop the run first."""
    open_ones = [check for check in by_outcome(verdict) if check.outcome != "pass"]
    told = (((outcome_text(one, stops=verdict.stops(one)), one.why), one.name) for one in open_ones)
    for (outcome, why), names in grouped(told).items():
        yield f"{outcome}: {why} ({listed(names, _NAMED)})."


def by_outcome(verdict: GateVerdict) -> list[Check]:
    """The checks: first those that stop the run, then those that warn, then those that passed."""
    turns = ("fail", "inconclusive", "pass")
    return sorted(verdict.checks, key=lambda check: (not verdict.stops(check), turns.index(check.outcome)))


def command(verdict: GateVerdict) -> str:
    """What makes this verdict again."""
    options = (("--baseline", verdict.baseline), ("--policy", verdict.policy_file))
    given = [part for name, path in options if path is not None for part in (name, str(path))]
    return shlex.join(["arena", "gate", str(verdict.run), *given])


def _named(check: Check) -> str:
    if check.change is not None:
        return f"{check.name} ({change_text(check.metric, check.change)})"
    return f"{check.name} ({value_text(check.metric, check.new)})" if check.new is not None else check.name


def xml_text(text: str) -> str:
    r"""The text with what XML 1.0 has no way to write as `\x1b`, `\ud800`."""
    return _NOT_IN_XML.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # production [2] of its grammar
_SHOWN = 20
_SPECIAL = str.maketrans(
    {mark: f"\\{mark}" for mark in "\\`*_[]|#~"} | {"<": "&lt;", "&": "&amp;", "\n": " ", "\r": " "}
)


def verdict_markdown(verdict: GateVerdict) -> str:
    """The headline, the checks that did not pass, why, what was changed; the others folded. Names are escaped."""
    ordered = by_outcome(verdict)
    open_ones = [check for check in ordered if check.outcome != "pass"]
    passed = [check for check in ordered if check.outcome == "pass"]
    mark = "\N{WHITE HEAVY CHECK MARK}" if verdict.passed else "\N{CROSS MARK}"
    lines = [f"### {mark} {_escaped(headline(verdict))}", ""]
    if open_ones:
        lines += [markdown_table(_rows(verdict, open_ones[:_SHOWN]), _escaped), ""]
        if len(open_ones) > _SHOWN:
            lines += [f"and {len(open_ones) - _SHOWN} more that did not pass.", ""]
        lines += [*(f"- {_escaped(reason)}" for reason in reasons(verdict)), ""]
    if verdict.notes:
        lines += [*(f"- {_escaped(note)}" for note in verdict.notes), ""]
    if passed:
        table = markdown_table(_rows(verdict, passed), _escaped)
        lines += ["<details>", f"<summary>{len(passed)} checks passed</summary>", "", table, "", "</details>", ""]
    return "\n".join([*lines, _escaped(HOW_TO_READ), "", "Made with", "", f"    {xml_text(command(verdict))}", ""])


def _rows(verdict: GateVerdict, checks: Sequence[Check]) -> Rows:
    return Rows(HEADINGS, tuple(figures_of(check, stops=verdict.stops(check)) for check in checks), N_NAMES)


def _escaped(text: str) -> str:
    return xml_text(text).translate(_SPECIAL)


def verdict_junit(verdict: GateVerdict) -> str:
    """What stops the run is a failure, what warns is skipped. Text is data: what XML cannot hold is spelt out."""
    root = ET.Element("testsuites", _counts(verdict, verdict.checks, "arena gate"))
    for cell, checks in grouped((check.cell, check) for check in verdict.checks).items():
        skipped = sum(check.outcome != "pass" and not verdict.stops(check) for check in checks)
        suite = ET.SubElement(root, "testsuite", {**_counts(verdict, checks, cell), "skipped": str(skipped)})
        for check in checks:
            _case(suite, verdict, check)
        ET.SubElement(suite, "system-out").text = xml_text(f"{headline(verdict)}\n{command(verdict)}")
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False)


def _counts(verdict: GateVerdict, checks: list[Check] | tuple[Check, ...], name: str) -> dict[str, str]:
    failures = sum(verdict.stops(check) for check in checks)
    return {"name": xml_text(name), "tests": str(len(checks)), "failures": str(failures), "errors": "0", "time": "0"}


def _case(suite: ET.Element, verdict: GateVerdict, check: Check) -> None:
    named = {"classname": xml_text(check.cell), "name": xml_text(f"{check.metric} {check.kind}"), "time": "0"}
    case = ET.SubElement(suite, "testcase", named)
    stops = verdict.stops(check)
    figures = figures_of(check, stops=stops)
    text = xml_text(
        ", ".join(f"{name}: {one}" for name, one in zip(HEADINGS[N_NAMES:], figures[N_NAMES:], strict=True))
    )
    if stops:
        ET.SubElement(case, "failure", {"message": xml_text(check.why), "type": check.outcome}).text = text
    elif check.outcome != "pass":
        ET.SubElement(case, "skipped", {"message": xml_text(f"{check.outcome}: {check.why}")})
    else:
        ET.SubElement(case, "system-out").text = text


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
    style = "bold green" if verdict.passed else "bold red"
    parts: list[Part] = [_rows(verdict, by_outcome(verdict)), *reasons(verdict), *verdict.notes, HOW_TO_READ]
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
