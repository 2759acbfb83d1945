from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from arena.errors import ConfigError, StrategyError
from arena.protocols import Router, Tools
from arena.types import Attempt, Decision, Task, Tier
from strategies import find_variant
from strategies.base import TrainedModel
from tests.scripted_writer import ScriptedWriter
from tests.unit.strategies.ircot.batches import QUESTION, SETTINGS, Batches, chain, decisions, passage

A, B = passage("a"), passage("b")


@dataclass
class FixedRouter:
    """Gives every question the same shares, and notes whom it was asked about."""

    shares: Mapping[str, float]
    identity: Mapping[str, str | int] = field(default_factory=lambda: {"router": "fixed"})
    tier: Tier = "T2"
    asked: list[str] = field(default_factory=list)

    def probabilities(self, question: str) -> Mapping[str, float]:
        self.asked.append(question)
        return self.shares


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "router.json").write_text("{}")
    return tmp_path


def routed(folder: Path, router: Router | None, writer: ScriptedWriter, settings: str = "") -> tuple[Attempt, Batches]:
    index = Batches([[A], [B]])
    strategy = find_variant(f"adaptive:policy=router:router={folder}{settings}").build()
    tools = Tools(index, SETTINGS, writer, router=router)
    return anyio.run(strategy.attempt, Task(QUESTION), tools), index


@pytest.mark.parametrize(
    ("label", "roles", "retrievals"),
    [("A", ["generate"], 0), ("B", ["generate"], 1), ("C", ["reason", "reason", "generate"], 2)],
)
def test_the_routers_label_is_followed_and_costs_no_call(
    folder: Path, label: str, roles: list[str], retrievals: int
) -> None:
    shares = {one: 0.8 if one == label else 0.1 for one in "ABC"}
    router, writer = FixedRouter(shares), chain(["P is Q.", "So the answer is: R."])
    done, index = routed(folder, router, writer)
    assert writer.roles() == roles
    assert len(index.asked) == retrievals
    assert router.asked == [QUESTION]
    changed = () if label == "B" else ("evidence",)
    assert decisions(done, "classify") == [Decision("classify", label, 0.8, changed=changed, tier="T2", parts=shares)]


def test_a_stand_in_for_the_papers_router_is_never_t2(folder: Path) -> None:
    router = FixedRouter({"A": 0.1, "B": 0.8, "C": 0.1}, tier="T1")
    done, _ = routed(folder, router, chain([]))
    assert [decision.tier for decision in decisions(done, "classify")] == ["T1"]


def test_a_bias_prefers_cheaper_labels_here_too(folder: Path) -> None:
    router = FixedRouter({"A": 0.0, "B": 0.4, "C": 0.6})
    done, _ = routed(folder, router, chain(["P is Q."]), ":cost_bias=0.5")
    (decision,) = decisions(done, "classify")
    assert (decision.choice, decision.origin, decision.subject) == ("B", "user", "by cost, instead of C")


@pytest.mark.parametrize(
    "shares", [{"A": 1.0}, {"A": 0.5, "B": 0.4, "C": 0.3}, {"A": float("nan"), "B": 0.5, "C": 0.5}]
)
def test_shares_that_are_none_fail_the_question(folder: Path, shares: dict[str, float]) -> None:
    with pytest.raises(StrategyError, match="no shares of A, B, C"):
        routed(folder, FixedRouter(shares), chain(["P is Q."]))


def test_a_contestant_without_its_router_says_so(folder: Path) -> None:
    with pytest.raises(StrategyError, match="the contestant has no router"):
        routed(folder, None, chain(["P is Q."]))


def test_the_router_is_part_of_what_a_variant_is(folder: Path) -> None:
    variant = find_variant(f"adaptive:policy=router:router={folder}")
    assert variant.trained == TrainedModel("router", "folder", str(folder))
    before = variant.settings["router_sha"]
    (folder / "router.json").write_text(json.dumps({"weights_sha256": "other"}))
    assert variant.settings["router_sha"] != before
    assert "router_sha" not in find_variant("adaptive").settings
    assert find_variant("adaptive").trained is None


def test_a_policy_without_its_router_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="policy router needs router=FOLDER: make one with `arena train-router"):
        find_variant("adaptive:policy=router")
    with pytest.raises(ConfigError, match=r"cannot be read .*no router.json"):
        find_variant(f"adaptive:policy=router:router={tmp_path / 'none'}").settings["router_sha"]
