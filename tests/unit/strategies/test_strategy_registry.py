from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from arena.errors import ConfigError, UnknownNameError, UserError
from strategies import STRATEGIES, find_strategy, strategy_names
from strategies.base import StrategySpec
from strategies.vanilla import FIGURE, build

PLUGIN_SPEC = StrategySpec("guess", "a guess", FIGURE, build)
NOT_A_SPEC = "a string"


def plugin(name: str, attribute: str = "PLUGIN_SPEC", module: str = __name__) -> EntryPoint:
    return EntryPoint(name=name, value=f"{module}:{attribute}", group="arena.strategies")


def test_every_strategy_stands_under_its_own_name() -> None:
    assert all(spec.name == name for name, spec in STRATEGIES.items())


def test_a_plugin_is_listed_and_found() -> None:
    assert strategy_names([plugin("guess")]) == tuple(sorted({*STRATEGIES, "guess"}))
    assert find_strategy("guess", [plugin("guess")]) is PLUGIN_SPEC


def test_a_plugin_takes_over_no_name_of_the_table() -> None:
    assert find_strategy("vanilla", [plugin("vanilla")]) is STRATEGIES["vanilla"]


def test_a_plugin_must_call_itself_what_its_entry_point_does() -> None:
    with pytest.raises(ConfigError, match=r"strategy 'wild_guess': '.*:PLUGIN_SPEC' calls itself 'guess'"):
        find_strategy("wild_guess", [plugin("wild_guess")])


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (plugin("odd", module="no_such_module"), "cannot be imported: ModuleNotFoundError"),
        (plugin("odd", "gone"), "cannot be imported: AttributeError"),
        (plugin("odd", "NOT_A_SPEC"), "is a str, not a StrategySpec"),
    ],
)
def test_a_broken_plugin_is_named_and_spares_the_others(broken: EntryPoint, message: str) -> None:
    plugins = [broken, plugin("guess")]
    with pytest.raises(UserError, match=rf"strategy 'odd'.* {message}"):
        find_strategy("odd", plugins)
    assert find_strategy("guess", plugins) is PLUGIN_SPEC


def test_an_unknown_name_gets_the_nearest_of_table_and_plugins() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'guess'"):
        find_strategy("gues", iter([plugin("guess")]))
