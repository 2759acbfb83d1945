from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.config import RunConfig
from arena.errors import ConfigError
from experiments.execution.contestants import contestants, read_entries
from experiments.execution.equipment import Equipment
from experiments.execution.evidence import LiveSearch
from experiments.execution.extras import (
    ExternalSources,
    SecondIndex,
    check_distinct,
    evaluator_key,
    live_search,
    second_corpus,
)
from experiments.terminal.progress import Reporter
from experiments.terminal.tables import Console
from strategies import find_variant
from tests.samples import DOCUMENTS
from tests.unit.experiments.search_tools import two_pages

TOOL = "tests.unit.experiments.search_tools:two_pages"


def config(folder: Path, *strategies: str, **changes: Any) -> RunConfig:
    return RunConfig.model_validate(
        {"dataset": f"jsonl:{folder}", "llm": {"model": "fake:"}, "strategies": strategies, "modes": ["dense"]}
        | changes
    )


@pytest.mark.parametrize(
    ("external", "changes", "message"),
    [
        ("second_index", {}, "set external.dataset"),
        ("live", {}, "set external.tool"),
        ("live", {"external": {"dataset": "world"}}, "set external.tool"),
        (
            "second_index",
            {"external": {"dataset": "world"}, "index": {"engine": "server", "path": "here"}},
            "cannot share the files in index.path 'here'",
        ),
    ],
)
def test_a_source_that_is_not_named_is_missed_before_any_data_is_read(
    external: str, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        read_entries(config(Path("/nowhere"), f"corrective:external={external}", **changes))


def test_a_tool_is_named_by_module_and_factory() -> None:
    with pytest.raises(ValueError, match=r"external\.tool"):
        RunConfig.model_validate({"external": {"tool": "just_a_module"}})


def test_nothing_is_opened_that_nobody_searches(jsonl_folder: Path) -> None:
    asked = config(jsonl_folder, "corrective", external={"dataset": "world", "tool": "no.such:tool"})
    variants = read_entries(asked).variants
    assert second_corpus(asked, variants, DOCUMENTS) is None
    assert live_search(asked, variants, Reporter(Console(file=io.StringIO()))) is None


def test_live_search_says_what_it_costs(jsonl_folder: Path) -> None:
    said = io.StringIO()
    asked = config(jsonl_folder, "corrective:external=live", external={"tool": TOOL})
    live = live_search(asked, read_entries(asked).variants, Reporter(Console(file=said), quiet=True))
    assert live is not None
    assert live.name == TOOL
    assert "may find the answers of a public benchmark" in said.getvalue()


def test_one_id_with_two_texts_is_refused() -> None:
    check_distinct(DOCUMENTS, DOCUMENTS[:2], "again")
    with pytest.raises(ConfigError, match="'other' has another text under id 'd2'"):
        check_distinct(DOCUMENTS, [replace(DOCUMENTS[1], text="Else.")], "other")


def test_a_cell_is_given_its_source_and_named_by_it(jsonl_folder: Path) -> None:
    names = ("corrective", "corrective:external=second_index", "corrective:external=live", "vanilla")
    asked = config(jsonl_folder, *names, external={"dataset": "world", "tool": TOOL}, allowance={"calls": 9})
    second = SecondIndex(None, "data_1")  # type: ignore[arg-type]
    sources = ExternalSources(second, LiveSearch(two_pages(), TOOL))
    equipment = Equipment(None, {"embedder": {"model": "tiny"}}, {}, None, sources)  # type: ignore[arg-type]
    off, index, live, vanilla = contestants(asked, read_entries(asked), equipment)
    assert (off.external, vanilla.external, live.external) == (None, None, sources.live)
    assert index.external is not None
    assert index.cell.params["external_corpus"] == "data_1"
    assert live.cell.params["external_tool"] == TOOL
    assert not {"external_corpus", "external_tool"} & set(off.cell.params)
    assert {one.allowance.calls for one in (off, vanilla)} == {9}
    moved = replace(equipment, external=ExternalSources(replace(second, fingerprint="data_2"), sources.live))
    changed = contestants(asked, read_entries(asked), moved)
    assert [a.cell.key == b.cell.key for a, b in zip((off, index, live, vanilla), changed, strict=True)] == [
        True,
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("entry", "key"),
    [
        ("vanilla", None),
        ("corrective", None),
        ("corrective:evaluator=t5:checkpoint=folder", ("t5", "folder")),
        ("corrective:evaluator=cross_encoder:upper=1:lower=0:strip_threshold=0", ("cross_encoder", "crosser")),
        ("corrective:evaluator=cross_encoder:upper=1:lower=0:strip_threshold=0:reranker=x", ("cross_encoder", "x")),
    ],
)
def test_each_trained_judge_is_known_by_its_model(entry: str, key: tuple[str, str] | None) -> None:
    assert evaluator_key(find_variant(entry), "crosser") == key


def test_late_interaction_is_no_judge_of_strips() -> None:
    variant = find_variant("corrective:evaluator=cross_encoder:upper=1:lower=0:strip_threshold=0")
    with pytest.raises(ConfigError, match=r"late_interaction is no cross-encoder.*bge-reranker-v2-m3"):
        evaluator_key(variant, "late_interaction")
