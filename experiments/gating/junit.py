"""A verdict as JUnit XML: one test case per check, one suite per cell."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from experiments.gating.figures import HEADINGS, N_NAMES, figures_of
from experiments.gating.spelling import spelt_out
from experiments.gating.summary import command, headline
from experiments.gating.verdict import Check, GateVerdict


def verdict_junit(verdict: GateVerdict) -> str:
    """What stops the run is a failure, what warns is skipped. Text is data: what XML cannot hold is spelt out."""
    root = ET.Element("testsuites", _counts(verdict, verdict.checks, "arena gate"))
    by_cell: dict[str, list[Check]] = {}
    for check in verdict.checks:
        by_cell.setdefault(check.cell, []).append(check)
    for cell, checks in by_cell.items():
        skipped = sum(check.outcome != "pass" and not verdict.stops(check) for check in checks)
        suite = ET.SubElement(root, "testsuite", {**_counts(verdict, checks, cell), "skipped": str(skipped)})
        for check in checks:
            _case(suite, verdict, check)
        ET.SubElement(suite, "system-out").text = spelt_out(f"{headline(verdict)}\n{command(verdict)}")
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False)


def _counts(verdict: GateVerdict, checks: list[Check] | tuple[Check, ...], name: str) -> dict[str, str]:
    failures = sum(verdict.stops(check) for check in checks)
    return {"name": spelt_out(name), "tests": str(len(checks)), "failures": str(failures), "errors": "0", "time": "0"}


def _case(suite: ET.Element, verdict: GateVerdict, check: Check) -> None:
    named = {"classname": spelt_out(check.cell), "name": spelt_out(f"{check.metric} {check.kind}"), "time": "0"}
    case = ET.SubElement(suite, "testcase", named)
    stops = verdict.stops(check)
    figures = figures_of(check, stops=stops)
    text = spelt_out(
        ", ".join(f"{name}: {one}" for name, one in zip(HEADINGS[N_NAMES:], figures[N_NAMES:], strict=True))
    )
    if stops:
        ET.SubElement(case, "failure", {"message": spelt_out(check.why), "type": check.outcome}).text = text
    elif check.outcome != "pass":
        ET.SubElement(case, "skipped", {"message": spelt_out(f"{check.outcome}: {check.why}")})
    else:
        ET.SubElement(case, "system-out").text = text
