from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from arena.errors import RunStoreError
from experiments.studies.gate.checks import Check, GateVerdict
from experiments.studies.gate.output import (
    HEADINGS,
    command,
    figures_of,
    headline,
    reasons,
    verdict_junit,
    verdict_markdown,
    write_gate,
    xml_text,
)
from experiments.studies.gate.policy import Policy
from experiments.terminal.tables import Console

NASTY = "van|illa\x1b[31m\x00<b>*x*</b>\ud800"
WORSE = Check(
    "vanilla/dense", "retrieval_recall", "margin", "fail", "worse by the margin or more, and by more than chance",
    limit=0.05, n=120, new=0.4, old=0.5, change=-0.1, at_worst=-0.1449, p=0.0001, p_adjusted=0.0004, catches=0.0871,
)  # fmt: skip
UNSURE = Check(
    "vanilla/dense", "answer_em", "margin", "inconclusive", "worse by the margin is not ruled out", limit=0.05
)
SLOW = Check(
    "vanilla/dense", "p95_seconds", "margin", "fail", "worse", limit=0.5, warn_only=True, change=1.234, new=2.0, old=0.9
)
WELL = Check(NASTY, "hit_at_5", "floor", "pass", "within the limit", limit=0.8, n=40, new=0.9, at_worst=0.79)


def verdict(*checks: Check, policy: Policy | None = None, notes: tuple[str, ...] = ()) -> GateVerdict:
    return GateVerdict(Path("runs/my run"), Path("runs/base"), policy or Policy(), Path("p.yaml"), checks, notes)


FAILED = verdict(WELL, SLOW, UNSURE, WORSE, notes=("Changed in vanilla/dense: k: 5 -> 3.",))


def test_only_what_fails_and_may_fail_stops_the_run() -> None:
    assert not FAILED.passed
    assert FAILED.stopping == (WORSE,)
    assert verdict(WELL, SLOW, UNSURE).passed
    strict = verdict(WELL, SLOW, UNSURE, policy=Policy(inconclusive="fail"))
    assert (strict.passed, strict.stopping) == (False, (UNSURE,))


def test_the_headline_names_what_failed_and_counts_the_rest() -> None:
    assert headline(FAILED) == (
        "Gate FAILED by retrieval_recall of vanilla/dense (-0.100). Of 4 checks 1 passed, 1 inconclusive, 2 failed."
    )
    assert headline(verdict(WELL)) == "Gate passed: of 1 checks 1 passed, 0 inconclusive, 0 failed."
    assert command(FAILED) == "arena gate 'runs/my run' --baseline runs/base --policy p.yaml"


def test_reasons_stand_once_each_with_those_that_stop_first() -> None:
    assert list(reasons(verdict(UNSURE, SLOW, WORSE, UNSURE))) == [
        f"FAIL: {WORSE.why} (retrieval_recall of vanilla/dense).",
        "fail (warns only): worse (p95_seconds of vanilla/dense).",
        f"inconclusive: {UNSURE.why} (answer_em of vanilla/dense and answer_em of vanilla/dense).",
    ]


def test_figures_stand_under_their_headings() -> None:
    row = dict(zip(HEADINGS, figures_of(WORSE, stops=True), strict=True))
    assert row == {
        "cell": "vanilla/dense", "metric": "retrieval_recall", "n": "120", "baseline": "0.500", "run": "0.400",
        "change": "-0.100", "at worst": "-0.145", "limit": "0.050", "p": "<0.001", "would catch": "0.087",
        "outcome": "FAIL",
    }  # fmt: skip
    slow = dict(zip(HEADINGS, figures_of(SLOW, stops=False), strict=True))
    assert (slow["change"], slow["limit"], slow["outcome"]) == ("+123.4 %", "50.0 %", "fail (warns only)")
    floor = dict(zip(HEADINGS, figures_of(WELL, stops=False), strict=True))
    assert (floor["limit"], floor["at worst"], floor["baseline"]) == ("≥ 0.800", "0.790", "–")


def test_markdown_shows_what_did_not_pass_and_folds_the_rest() -> None:
    text = verdict_markdown(FAILED)
    shown, _, folded = text.partition("<details>")
    assert shown.startswith("### \N{CROSS MARK} Gate FAILED by retrieval\\_recall")
    assert "| FAIL |" in shown
    assert "k: 5 -> 3" in shown
    assert "hit\\_at\\_5" in folded
    assert "hit\\_at\\_5" not in shown
    assert "    arena gate 'runs/my run' --baseline runs/base --policy p.yaml\n" in folded
    assert "van\\|illa" in folded
    assert "&lt;b>" in text
    assert "<b>" not in text
    assert not set(text) & {"\x1b", "\x00", "\ud800"}
    assert verdict_markdown(verdict(WELL)).startswith("### \N{WHITE HEAVY CHECK MARK} Gate passed")


def test_markdown_of_a_run_that_fails_everywhere_stays_short() -> None:
    text = verdict_markdown(verdict(*[WORSE] * 50))
    assert text.count("| FAIL |") == 20
    assert "and 30 more that did not pass." in text


def test_junit_has_one_case_per_check_and_reads_as_xml() -> None:
    root = ET.fromstring(verdict_junit(FAILED))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("4", "1", "0")
    cases = {case.get("name"): [child.tag for child in case] for case in root.iter("testcase")}
    assert cases == {
        "hit_at_5 floor": ["system-out"],
        "p95_seconds margin": ["skipped"],
        "answer_em margin": ["skipped"],
        "retrieval_recall margin": ["failure"],
    }
    suites = {suite.get("name"): (suite.get("failures"), suite.get("skipped")) for suite in root.iter("testsuite")}
    assert suites["vanilla/dense"] == ("1", "2")
    assert next(root.iter("failure")).get("message") == WORSE.why
    assert "van|illa\\x1b[31m\\x00<b>*x*</b>\\ud800" in suites


def test_what_xml_cannot_hold_is_spelt_out() -> None:
    assert xml_text("a\tb\nc\x0b\x7f\ufffe") == "a\tb\nc\\x0b\x7f\\ufffe"


def test_the_verdict_is_printed_as_a_table_or_as_json() -> None:
    plain = Console(file=StringIO(), width=200)
    write_gate(FAILED, plain)
    text = plain.file.getvalue()  # type: ignore[attr-defined]
    assert text.index("retrieval_recall") < text.index("hit_at_5")
    assert "Gate FAILED by retrieval_recall" in text
    out = Console(file=StringIO())
    write_gate(verdict(WORSE, UNSURE), out, json=True)
    content = json.loads(out.file.getvalue())  # type: ignore[attr-defined]
    assert (content["passed"], content["baseline"], content["notes"]) == (False, "runs/base", [])
    assert [(one["metric"], one["change"], one["stops"]) for one in content["checks"]] == [
        ("retrieval_recall", -0.1, True),
        ("answer_em", None, False),
    ]
    assert content["policy"]["level"] == 0.05


def test_files_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    console = Console(file=StringIO())
    write_gate(verdict(WORSE), console, markdown=tmp_path / "g.md", junit=tmp_path / "g.xml")
    assert (tmp_path / "g.md").read_text(encoding="utf-8") == verdict_markdown(verdict(WORSE))
    assert ET.parse(tmp_path / "g.xml").getroot().tag == "testsuites"
    with pytest.raises(RunStoreError, match="cannot write"):
        write_gate(verdict(WORSE), console, markdown=tmp_path / "none" / "g.md")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.md", "g.xml"]
