from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from arena.errors import UnknownNameError
from experiments.cli.main import main
from experiments.studies.strategies.facts import (
    SettingFacts,
    StrategyFacts,
    facts_of,
    facts_text,
    list_facts,
    list_rows,
    list_table,
)
from strategies import STRATEGIES, find_strategy
from strategies.base import Clause

ROUTER = StrategyFacts(
    name="router",
    summary="route first",
    tier="T1",
    needs=("an index", "a model"),
    paper="A. Author, A Paper, 2024",
    decides=("route: which way",),
    settings=(SettingFacts("bias", "number from 0 to 1", "0.5", "cost bias (paper section 3)"),),
    clauses=(
        Clause("It routes.", "implemented", "as told"),
        Clause("It is trained.", "left out", "no weights"),
        Clause("It asks twice.", "adapted", "once"),
    ),
    roles={"route": "how hard the question is"},
    figure="flowchart TD\n    __start__([start]) --> route",
)


def test_every_strategy_is_listed() -> None:
    listed, problems = list_facts()
    assert not problems
    assert {one.name for one in listed} >= set(STRATEGIES)
    out = io.StringIO()
    Console(file=out, width=200).print(list_table(listed))
    assert {line.split()[0] for line in out.getvalue().splitlines()} >= set(STRATEGIES)


def test_the_list_as_json_holds_what_the_table_does() -> None:
    assert list_rows([ROUTER]) == [
        {"name": "router", "summary": "route first", "tier": "T1", "needs": ("an index", "a model")}
    ]


def test_the_text_sets_differences_from_the_paper_first() -> None:
    text = facts_text(ROUTER)
    places = [
        text.index(part)
        for part in (
            "router: route first",
            "paper    A. Author",
            "tier     T1 at most",
            "asks     route: how hard the question is",
            "decides  route: which way",
            "router:bias=...   number from 0 to 1; default 0.5",
            "of the paper, left out",
            "It is trained.",
            "of the paper, adapted",
            "of the paper, implemented",
            "__start__([start]) --> route",
        )
    ]
    assert places == sorted(places)


def test_long_texts_are_wrapped_behind_their_label() -> None:
    long = StrategyFacts("x", "y", None, (), "word " * 60, (), (), (), {}, "flowchart TD")
    lines = facts_text(long).splitlines()
    assert all(len(line) <= 96 for line in lines)
    assert sum(line.startswith("         word") for line in lines) >= 2


@pytest.mark.parametrize("name", STRATEGIES)
def test_show_prints_text_or_one_json_object(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["strategies", "show", name])
    assert facts_text(facts_of(find_strategy(name))) in capsys.readouterr().out
    with pytest.raises(SystemExit, match="0"):
        main(["strategies", "show", name, "--json"])
    shown = json.loads(capsys.readouterr().out)
    assert (shown["name"], len(shown["settings"])) == (name, len(STRATEGIES[name].params.model_fields))


def test_list_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["strategies", "list", "--json"])
    assert {one["name"] for one in json.loads(capsys.readouterr().out)["strategies"]} >= set(STRATEGIES)


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'vanilla'"):
        facts_of(find_strategy("vanila"))
