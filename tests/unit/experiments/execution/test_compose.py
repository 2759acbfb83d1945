from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arena.config import RunConfig
from arena.errors import ConfigError, UnknownNameError
from experiments.execution.contestants import contestants, read_entries
from experiments.execution.equipment import Equipment, Reranking


def config(jsonl_folder: Path, **changes: Any) -> RunConfig:
    return RunConfig.model_validate({"dataset": f"jsonl:{jsonl_folder}", "llm": {"model": "fake:"}} | changes)


def equipment(threshold: float | None = 0.15) -> Equipment:
    identity = {"embedder": {"model": "tiny"}}
    return Equipment(None, identity, {}, Reranking("crosser", {"model": "crosser"}, threshold))  # type: ignore[arg-type]


def test_every_strategy_meets_every_mode_it_has_a_use_for(jsonl_folder: Path) -> None:
    entries = read_entries(config(jsonl_folder, modes=["dense", "hybrid_rerank"]))
    assert [(entry.spec.name, entry.mode) for entry in entries.competing] == [
        ("retrieval_only", "dense"),
        ("retrieval_only", "hybrid_rerank"),
        ("vanilla", "dense"),
        ("vanilla", "hybrid_rerank"),
        ("closed_book", "none"),
        ("oracle", "gold"),
    ]
    assert entries.needs_reranker


def test_every_retrieval_setting_reaches_the_request_and_the_cell(jsonl_folder: Path) -> None:
    wanted = {"k": 3, "depth": 20, "rrf_k": 7, "fusion": "rrf", "lane_weights": [2.0, 1.0]}
    asked = config(jsonl_folder, strategies=["retrieval_only"], modes=["hybrid_rerank"], retrieval=wanted)
    (one,) = contestants(asked, read_entries(asked), equipment())
    request = one.settings.request("q")
    assert (request.k, request.depth, request.rrf_k, request.fusion) == (3, 20, 7, "rrf")
    assert (request.lane_weights, request.threshold) == ((2.0, 1.0), 0.15)
    shown = {
        "k": 3,
        "depth": 20,
        "rrf_k": 7,
        "dense_weight": 2.0,
        "threshold": 0.15,
        "reranker": "crosser",
        "embedder": "tiny",
    }
    assert shown.items() <= dict(one.cell.params).items()


def test_a_setting_a_mode_has_no_use_for_is_not_in_its_identity(jsonl_folder: Path) -> None:
    def dense_cell(**retrieval: Any) -> str:
        asked = config(jsonl_folder, strategies=["retrieval_only"], modes=["dense"], retrieval=retrieval)
        return contestants(asked, read_entries(asked), equipment())[0].cell.key

    assert dense_cell() == dense_cell(depth=20, rrf_k=7)
    assert dense_cell() != dense_cell(k=3)


def test_dbsf_has_no_rank_constant(jsonl_folder: Path) -> None:
    asked = config(jsonl_folder, strategies=["retrieval_only"], modes=["hybrid"], retrieval={"fusion": "dbsf"})
    assert contestants(asked, read_entries(asked), equipment())[0].settings.rrf_k is None


def test_the_small_sample_of_the_model_is_part_of_the_large_one(jsonl_folder: Path) -> None:
    entries = read_entries(config(jsonl_folder, sample={"limit": 4, "model_limit": 2}))
    asked = {entry.spec.name: set(entry.questions) for entry in entries.competing}
    assert len(asked["retrieval_only"]) == 4
    assert len(asked["vanilla"]) == 2
    assert asked["vanilla"] <= asked["retrieval_only"]


def test_a_strategy_without_questions_is_left_out_and_named(jsonl_folder: Path) -> None:
    questions = jsonl_folder / "questions.jsonl"
    questions.write_text(questions.read_text().splitlines(keepends=True)[-1])  # the unanswerable one
    entries = read_entries(config(jsonl_folder))
    assert entries.skipped == ("oracle",)
    assert "oracle" not in {entry.spec.name for entry in entries.competing}
    with pytest.raises(ConfigError, match="oracle can be asked nothing"):
        read_entries(config(jsonl_folder, strategies=["oracle"]))


def test_a_name_is_checked_before_any_data_is_read(jsonl_folder: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'hybrid'"):
        read_entries(config(jsonl_folder, dataset="jsonl:/nowhere", modes=["hybird"]))


def test_settings_of_a_strategy_that_nobody_knows_are_refused(jsonl_folder: Path) -> None:
    with pytest.raises(UnknownNameError, match="'selfrag': did you mean 'self_rag'"):
        read_entries(config(jsonl_folder, strategy_params={"selfrag": {"mode": "long"}}))


def asked_ids(asked: RunConfig) -> dict[str, list[str]]:
    return {entry.spec.name: [one.question_id for one in entry.questions] for entry in read_entries(asked).competing}


def test_named_questions_are_asked_of_every_cell_that_can_be_asked_them(jsonl_folder: Path) -> None:
    named = config(jsonl_folder, modes=["dense"], sample={"ids": ["q5", "q2"]})
    assert asked_ids(named) == {
        "retrieval_only": ["q2", "q5"],
        "vanilla": ["q2", "q5"],
        "closed_book": ["q2", "q5"],
        "oracle": ["q2"],
    }


def test_a_question_that_does_not_exist_is_named_with_its_nearest(jsonl_folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"names 'q22', .* the nearest is 'q2'"):
        read_entries(config(jsonl_folder, sample={"ids": ["q22"]}))


def test_the_parts_share_no_question_and_have_all_of_them(jsonl_folder: Path) -> None:
    dev, measured = (
        asked_ids(config(jsonl_folder, strategies=["closed_book"], sample={"part": part})) for part in ("dev", "eval")
    )
    assert dev == {"closed_book": ["q4"]}
    assert measured == {"closed_book": ["q1", "q2", "q3", "q5"]}


def test_a_limit_is_drawn_from_the_part(jsonl_folder: Path) -> None:
    drawn = config(jsonl_folder, strategies=["closed_book"], sample={"part": "eval", "limit": 2})
    (ids,) = asked_ids(drawn).values()
    assert len(ids) == 2
    assert "q4" not in ids
