from __future__ import annotations

import re
from dataclasses import replace

from docs.build.strategies import PATH, render
from experiments.studies.strategies.facts import facts_of
from strategies import STRATEGIES
from strategies.base import Clause

FACTS = [facts_of(spec) for spec in STRATEGIES.values()]


def test_the_page_is_what_the_strategies_declare() -> None:
    assert PATH.read_text(encoding="utf-8") == render(FACTS), "run python -m docs.build.strategies"


def test_every_strategy_has_a_section_that_the_overview_links_to() -> None:
    page = render(FACTS)
    for name in STRATEGIES:
        assert page.count(f"\n## {name}\n") == 1
        assert f"[{name}](#{name})" in page


def test_a_text_cannot_break_its_table() -> None:
    odd = replace(FACTS[0], clauses=(Clause("a | b\nc", "adapted", "<b>bold</b>"),))
    assert "| a \\| b c | adapted | &lt;b>bold&lt;/b> |" in render([odd])


def test_tables_are_square() -> None:
    for table in re.findall(r"(?:^\|.*\|\n)+", render(FACTS), re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(widths) == 1, table
