from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from arena.errors import ConfigError
from arena.types import Cell
from experiments.studies.gate.policy import ALONE, MARGINS, SCORES, SPENDING, Policy, names_of, read_policy

CELL = Cell("vanilla", "dense", "fake:", {"k": 5})


PAGE = (Path(__file__).parents[5] / "docs" / "gate.md").read_text(encoding="utf-8")


def block(first_line: str) -> str:
    """The indented block of the page that begins so, without its indent."""
    lines = PAGE.splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith(f"    {first_line}"))
    end = next(place for place in range(start, len(lines) + 1) if place == len(lines) or lines[place][:1].strip())
    return "\n".join(line[4:] for line in lines[start:end])


def policy_of(tmp_path: Path, text: str) -> Policy:
    path = tmp_path / "policy.yaml"
    path.write_text(text, encoding="utf-8")
    return read_policy(path)


def test_the_built_in_margins_are_of_metrics_there_are() -> None:
    assert set(MARGINS) <= {*SCORES, *SPENDING}
    assert Policy().bounds_of(CELL).margins == MARGINS
    assert not Policy().has_floors
    assert ALONE.has_floors


def test_margins_lie_over_the_built_in_ones_and_null_takes_one_away(tmp_path: Path) -> None:
    margins = policy_of(tmp_path, "margins: {retrieval_recall: 0.02, mrr: 0.1, usd: null}").bounds_of(CELL).margins
    assert (margins["retrieval_recall"], margins["mrr"], margins["usd"]) == (0.02, 0.1, None)
    assert margins["answer_em"] == MARGINS["answer_em"]


def test_the_most_particular_limit_of_a_cell_counts(tmp_path: Path) -> None:
    text = f"""
floors: {{hit_at_5: 0.8}}
cells:
  {CELL.key}: {{margins: {{mrr: 0.3}}}}
  vanilla: {{margins: {{mrr: 0.1, answer_em: 0.1}}, floors: {{hit_at_5: null}}}}
  vanilla/dense: {{margins: {{mrr: 0.2, answer_f1: 0.2}}}}
"""
    bounds = policy_of(tmp_path, text).bounds_of(CELL)
    assert [bounds.margins[name] for name in ("mrr", "answer_em", "answer_f1")] == [0.3, 0.1, 0.2]
    assert bounds.floors == {"hit_at_5": None}
    assert policy_of(tmp_path, text).bounds_of(Cell("ircot", "dense", None)).floors == {"hit_at_5": 0.8}
    assert names_of(CELL) == ("vanilla", "vanilla/dense", CELL.key)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("margin: {mrr: 0.1}", "unknown setting 'margin': did you mean 'margins'?"),
        ("margins: {retrieval_recal: 0.1}", "unknown metric 'retrieval_recal': did you mean 'retrieval_recall'?"),
        ("margins: {mrr: 0}", "margin 0.0 of mrr must be above 0 and below 1"),
        ("margins: {mrr: 1.5}", "margin 1.5 of mrr"),
        ("margins: {tokens: -0.1}", "margin -0.1 of tokens must be above 0"),
        ("floors: {unsupported_claim: 0.1}", "unsupported_claim counts faults, and less is better: put it under ceil"),
        ("floors: {tokens: 100}", "unknown metric 'tokens'"),
        ("floors: {mrr: 60}", "limit 60.0 of mrr must lie in [0, 1]"),
        ("ceilings: {mrr: 0.1}", "of mrr more is better: put it under floors"),
        ("ceilings: {usd: .nan}", "ceiling nan of usd"),
        ("level: 0.7", "'level' is 0.7"),
        ("inconclusive: ignore", "'inconclusive' is 'ignore'"),
        ("cells: {vanilla: {margin: {}}}", "unknown setting 'cells.vanilla.margin': did you mean 'margins'?"),
        ("pairs: [{run: a}]", "'pairs.0.baseline' is missing"),
        ("pairs: [{run: a, baseline: b}, {run: a, baseline: c}]", "pairs name run cell 'a' more than once"),
        ("warn_only: [p95_second]", "unknown metric 'p95_second': did you mean 'p95_seconds'?"),
        ("[1, 2]", "holds a list: it must be a mapping"),
        ("a: b: c", "is not YAML"),
    ],
)
def test_what_is_wrong_in_a_policy_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        policy_of(tmp_path, text)
    assert message in str(caught.value)
    assert "policy.yaml" in str(caught.value)


def test_a_policy_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no policy file"):
        read_policy(tmp_path / "none.yaml")
    with pytest.raises(ConfigError, match="cannot read policy"):
        read_policy(tmp_path)


def test_an_empty_file_is_the_built_in_policy(tmp_path: Path) -> None:
    assert policy_of(tmp_path, "") == Policy()


def test_a_policy_is_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Policy().level = 0.1  # type: ignore[misc]


def test_the_page_shows_a_policy_that_can_be_read_and_the_floors_there_are(tmp_path: Path) -> None:
    policy = policy_of(tmp_path, block("level:"))
    assert policy.floors == ALONE.floors
    assert policy.level == Policy().level
    assert policy.warn_only == Policy().warn_only


def test_the_page_shows_the_margins_there_are() -> None:
    rows = [line.split("|") for line in PAGE.splitlines() if line.startswith("| `")]
    told = {name: float(cells[-2]) for cells in rows for name in MARGINS if f"`{name}`" in cells[1]}
    assert told == MARGINS


def test_the_workflow_on_the_page_is_yaml_and_calls_the_gate() -> None:
    jobs = yaml.safe_load(block("name: gate"))["jobs"]
    commands = [step.get("run", "") for step in jobs["gate"]["steps"]]
    assert any(command.startswith("arena gate ") for command in commands)
