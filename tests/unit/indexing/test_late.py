"""What a reranker, an evaluator or a router is, is known without opening it; it is opened when it is first asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from arena.config.settings import RerankConfig
from arena.errors import ConfigError, WeightsError
from arena.types import Passage
from indexing.late import LateModels
from indexing.rerank.cross_encoders import BGE_RERANKER, FlagCrossEncoder, SentenceCrossEncoder
from indexing.rerank.opening import T5Evaluator, open_reranker, open_t5_evaluator
from indexing.routing.opening import open_router
from indexing.routing.routers import T5Router
from tests.letter_embedder import LetterEmbedder
from tests.tiny_models import build_tiny_reranker
from tests.tiny_t5 import build_tiny_t5, t5_router_folder

CPU = ("cpu",)
PASSAGES = [Passage(name, name, "", f"the {name} of the town", 0, 17) for name in ("river", "guild", "tower")]
CLASSES = (FlagCrossEncoder, SentenceCrossEncoder, T5Evaluator, T5Router)


def reranker(folder: Path, late: LateModels | None, **settings: Any) -> Any:
    config = RerankConfig(model=str(folder), **{"devices": CPU} | settings)
    return open_reranker(config, LetterEmbedder(), folder, late=late)


@dataclass(frozen=True)
class Case:
    name: str
    build: Callable[[Path], Path]
    open: Callable[[Path, LateModels | None], Any]
    ask: Callable[[Any], object]


def score(one: Any) -> object:
    return one.score(["where is the river"], [PASSAGES]), one.default_threshold


CASES = {
    FlagCrossEncoder: Case(BGE_RERANKER, build_tiny_reranker, reranker, score),
    SentenceCrossEncoder: Case("cross", build_tiny_reranker, reranker, score),
    T5Evaluator: Case(
        "t5",
        build_tiny_t5,
        lambda folder, late: open_t5_evaluator(folder, RerankConfig(devices=CPU), late),
        lambda one: one.score("where is the river", [passage.text for passage in PASSAGES]),
    ),
    T5Router: Case(
        "router",
        t5_router_folder,
        lambda folder, late: open_router(folder, LetterEmbedder(), devices=CPU, late=late),
        lambda one: (one.probabilities("where is the river"), one.tier),
    ),
}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[type]:
    """The classes of the models that were opened."""
    seen: list[type] = []
    for kind in CLASSES:
        real: Callable[..., None] = kind.__init__

        def init(self: Any, *arguments: Any, real: Callable[..., None] = real, **options: Any) -> None:
            seen.append(type(self))
            real(self, *arguments, **options)

        monkeypatch.setattr(kind, "__init__", init)
    return seen


@pytest.mark.parametrize("kind", CLASSES)
def test_a_known_model_is_opened_when_it_is_asked(kind: type, opened: list[type], tmp_path: Path) -> None:
    case = CASES[kind]
    folder = case.build(tmp_path / case.name)
    bare = case.open(folder, None)
    first = case.open(folder, LateModels(tmp_path / "notes"))
    assert opened == [kind, kind]
    again = case.open(folder, LateModels(tmp_path / "notes"))
    assert list(again.identity.items()) == list(first.identity.items()) == list(bare.identity.items())
    assert opened == [kind, kind]
    assert case.ask(again) == case.ask(bare)
    assert opened == [kind, kind, kind]


def test_all_are_opened_before_a_question_where_questions_come(opened: list[type], tmp_path: Path) -> None:
    folders = {kind: case.build(tmp_path / case.name) for kind, case in CASES.items()}
    for late in (LateModels(tmp_path / "notes"), LateModels(tmp_path / "notes")):
        del opened[:]
        for kind, case in CASES.items():
            case.open(folders[kind], late)
    assert opened == []
    late.open()
    late.open()
    assert opened == list(CASES)


@pytest.mark.parametrize("changed", [{"max_length": 32}, {"dtype": "bfloat16"}, {"batch_size": 2}])
def test_other_settings_are_another_reranker(changed: dict[str, Any], opened: list[type], tmp_path: Path) -> None:
    folder = build_tiny_reranker(tmp_path / "cross")
    for settings in ({}, changed, {**changed, "threshold": 0.5}):
        one = reranker(folder, LateModels(tmp_path / "notes"), **settings)
    assert opened == [SentenceCrossEncoder] * 2
    assert one.identity == reranker(folder, None, **changed).identity


def test_what_cannot_be_opened_leaves_no_note(tmp_path: Path) -> None:
    folder = build_tiny_t5(tmp_path / "body", headless=True)
    for _ in range(2):
        with pytest.raises(WeightsError, match="has no trained head"):
            open_t5_evaluator(folder, RerankConfig(devices=CPU), LateModels(tmp_path / "notes"))
    assert not (tmp_path / "notes").exists()


def test_a_named_device_is_looked_for_at_once(tmp_path: Path) -> None:
    folder = build_tiny_reranker(tmp_path / "cross")
    with pytest.raises(ConfigError, match="cuda:77"):
        reranker(folder, LateModels(tmp_path / "notes"), devices=("cuda:77",))
