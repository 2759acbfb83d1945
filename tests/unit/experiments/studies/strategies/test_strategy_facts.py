from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from pydantic import Field

from arena.errors import ConfigError
from experiments.studies.strategies.facts import facts_of, mermaid, settings_of
from strategies import STRATEGIES, Params, StrategySpec
from strategies.base import Clause, FidelityCard
from strategies.vanilla import FIGURE, build

CARD = FidelityCard(
    "A. Author, A Paper, 2024", ("route: which way",), (Clause("It routes.", "adapted", "by a prompt"),)
)


class Odd(Params):
    policy: Literal["always", "never"] = Field("always", description="which  way\n(paper section 3)")
    share: float = Field(0.2, ge=0, le=1)
    positive: int = Field(3, gt=0)
    weights: tuple[float, float, float] = (1.0, 1.0, 0.5)
    names: tuple[str, ...] = ()
    cut: float | None = None
    verbose: bool = False
    path: str


ODD = StrategySpec("odd", "an odd one", FIGURE, build, Odd, tier="T1", card=CARD, uses_external=lambda _: True)


def test_settings_say_their_values_range_and_default() -> None:
    listed = {one.name: (one.kind, one.default) for one in settings_of(Odd.model_json_schema())}
    assert listed == {
        "policy": ("always | never", "always"),
        "share": ("number from 0 to 1", "0.2"),
        "positive": ("whole number above 0", "3"),
        "weights": ("list of number", "[1.0, 1.0, 0.5]"),
        "names": ("list of text", "[]"),
        "cut": ("number or none", "none"),
        "verbose": ("true or false", "false"),
        "path": ("text", None),
    }


def test_a_card_and_a_description_are_passed_on() -> None:
    facts = facts_of(ODD)
    assert (facts.tier, facts.paper, facts.decides) == ("T1", CARD.paper, CARD.decides)
    assert facts.clauses == CARD.clauses
    assert facts.settings[0].description == "which way (paper section 3)"


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("vanilla", ("an index", "a model")),
        ("retrieval_only", ("an index",)),
        ("closed_book", ("a model",)),
        ("oracle", ("gold documents", "a model")),
    ],
)
def test_what_a_strategy_needs(name: str, needs: tuple[str, ...]) -> None:
    assert facts_of(STRATEGIES[name]).needs == needs


def test_a_setting_that_must_be_given_leaves_the_external_source_open() -> None:
    assert facts_of(ODD).needs == ("an index", "a model")


def test_a_figure_is_drawn_from_the_start_on() -> None:
    edges = frozenset({("b", "__end__"), ("__start__", "z"), ("z", "b"), ("z", "a"), ("a", "z"), ("a", "__end__")})
    assert mermaid(edges).splitlines() == [
        "flowchart TD",
        "    __start__([start]) --> z",
        "    z --> a",
        "    z --> b",
        "    a --> z",
        "    a --> __end__([end])",
        "    b --> __end__([end])",
    ]


def test_every_edge_of_every_figure_is_drawn_once() -> None:
    for spec in STRATEGIES.values():
        drawn = facts_of(spec).figure.splitlines()
        assert len(drawn) == len(set(drawn)) == len(spec.figure) + 1


@pytest.mark.parametrize("spec", STRATEGIES.values(), ids=STRATEGIES.keys())
def test_every_setting_names_its_meaning_and_source(spec: StrategySpec) -> None:
    for setting in facts_of(spec).settings:
        assert len(setting.description.split()) >= 4, setting.name
        assert setting.default is not None, setting.name


@pytest.mark.parametrize("spec", STRATEGIES.values(), ids=STRATEGIES.keys())
def test_a_strategy_with_a_tier_has_a_card(spec: StrategySpec) -> None:
    card = spec.fidelity
    assert (spec.tier is None) == (card is None)
    if card is not None:
        assert card.decides
        assert {clause.status for clause in card.clauses} >= {"implemented"}
        assert all(clause.says.strip() and clause.how.strip() for clause in card.clauses)


def test_a_card_in_a_file_is_read_when_it_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "card.yaml"
    filed = replace(ODD, card=file)
    with pytest.raises(ConfigError, match="no fidelity card file"):
        facts_of(filed)
    file.write_text("paper: P\ndecides: []\nclauses: [{says: It routes., status: done, how: by a prompt}]\n")
    with pytest.raises(ConfigError, match=r"card\.yaml.*clauses\.0\.status"):
        facts_of(filed)
    file.write_text(
        "paper: A. Author, A Paper, 2024\ndecides: ['route: which way']\n"
        "clauses: [{says: It routes., status: adapted, how: by a prompt}]\n"
    )
    assert filed.fidelity == CARD
