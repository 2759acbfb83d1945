"""A verdict as Markdown, to be put under a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.gating.figures import HEADINGS, HOW_TO_READ, N_NAMES, figures_of
from experiments.gating.spelling import spelt_out
from experiments.gating.summary import by_outcome, command, headline, reasons
from experiments.gating.verdict import Check, GateVerdict

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
        lines += [*_table(verdict, open_ones[:_SHOWN]), ""]
        if len(open_ones) > _SHOWN:
            lines += [f"and {len(open_ones) - _SHOWN} more that did not pass.", ""]
        lines += [*(f"- {_escaped(reason)}" for reason in reasons(verdict)), ""]
    if verdict.notes:
        lines += [*(f"- {_escaped(note)}" for note in verdict.notes), ""]
    if passed:
        lines += ["<details>", f"<summary>{len(passed)} checks passed</summary>", "", *_table(verdict, passed), ""]
        lines += ["</details>", ""]
    return "\n".join([*lines, _escaped(HOW_TO_READ), "", "Made with", "", f"    {spelt_out(command(verdict))}", ""])


def _table(verdict: GateVerdict, checks: Sequence[Check]) -> list[str]:
    rule = ["---"] * N_NAMES + ["---:"] * (len(HEADINGS) - N_NAMES)
    rows = (figures_of(check, stops=verdict.stops(check)) for check in checks)
    return [_line(HEADINGS), "| " + " | ".join(rule) + " |", *map(_line, rows)]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_escaped, cells)) + " |"


def _escaped(text: str) -> str:
    return spelt_out(text).translate(_SPECIAL)
