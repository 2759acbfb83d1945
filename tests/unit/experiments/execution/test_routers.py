from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pytest

from arena.config import RunConfig
from arena.errors import ConfigError, WeightsError
from experiments.execution.contestants import contestants, read_entries
from experiments.execution.equipment import Equipment
from experiments.execution.extras import open_routers, router_folder
from indexing.routing.opening import CALLED, NAME, RouterFile, query_identity, router_text, weights_sha256
from indexing.routing.routers import LightWeights
from strategies import find_variant
from tests.letter_embedder import LetterEmbedder


@pytest.fixture
def router(tmp_path: Path) -> Path:
    """A light router for the reader `fake:`, over letters."""
    folder = tmp_path / "router"
    folder.mkdir()
    LightWeights(np.zeros((3, LetterEmbedder.dimension + 1)), np.zeros(3), np.array([2.0, 0.5])).save(folder)
    described = RouterFile(
        kind="light",
        called=CALLED["light"],
        labels=("A", "B", "C"),
        reader="fake:",
        embedder=query_identity(LetterEmbedder.identity),
        weights_sha256=weights_sha256(folder, "light"),
    )
    (folder / NAME).write_text(router_text(described), encoding="utf-8")
    return folder


def config(data: Path, *strategies: str, llm: str = "fake:") -> RunConfig:
    asked: Mapping[str, Any] = {"dataset": f"jsonl:{data}", "llm": {"model": llm}, "modes": ["dense"]}
    return RunConfig.model_validate({**asked, "strategies": strategies})


def entry(router: Path) -> str:
    return f"adaptive:policy=router:router={router}"


def test_only_the_policy_that_asks_one_names_a_router(router: Path) -> None:
    assert router_folder(find_variant(entry(router))) == str(router)
    others = ("adaptive", f"adaptive:router={router}", "vanilla", "corrective:evaluator=t5:checkpoint=x")
    assert [router_folder(find_variant(one)) for one in others] == [None] * 4


def test_another_reader_is_refused_before_anything_is_opened(router: Path, jsonl_folder: Path) -> None:
    read_entries(config(jsonl_folder, entry(router), "adaptive"))
    with pytest.raises(ConfigError, match=r"was trained on what 'fake:' answers, and the run's model is 'openai:x'"):
        read_entries(config(jsonl_folder, entry(router), llm="openai:x"))
    read_entries(config(jsonl_folder, "adaptive", llm="openai:x"))


def test_a_folder_without_a_router_is_refused(tmp_path: Path, jsonl_folder: Path) -> None:
    with pytest.raises(WeightsError, match="no trained router in"):
        read_entries(config(jsonl_folder, entry(tmp_path)))


def test_a_contestant_has_its_router_and_its_cell_says_which(router: Path, jsonl_folder: Path) -> None:
    asked = config(jsonl_folder, entry(router), "adaptive:policy=always_b")
    entries = read_entries(asked)
    routers = open_routers(entries.variants, LetterEmbedder(), Lock(), None)
    equipment = Equipment(None, {"embedder": {"model": "letters"}}, {}, None, routers=routers)  # type: ignore[arg-type]
    routed, fixed = contestants(asked, entries, equipment)
    assert routed.router is routers[str(router)]
    assert routed.cell.params["router_kind"] == "embedding + logistic regression"
    assert routed.cell.params["router_sha"] == find_variant(entry(router)).settings["router_sha"]
    assert fixed.router is None
    assert "router_kind" not in fixed.cell.params


def test_one_router_is_opened_once(router: Path) -> None:
    variants = [find_variant(entry(router)), find_variant(f"{entry(router)}:cost_bias=1")]
    assert list(open_routers(variants, LetterEmbedder(), Lock(), None)) == [str(router)]
