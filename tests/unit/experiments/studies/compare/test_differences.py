from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arena.datasets import load_dataset
from experiments.execution.scoring import PastRun, open_past_run
from experiments.studies.compare.differences import Difference, differences, price_differences, repeated_cells
from tests.samples import answered, cell
from tests.unit.experiments.made_runs import made_run

INDEX = {"embedder": {"model": "minilm"}, "chunking": {"tokens": None}}


@pytest.fixture
def spec(jsonl_folder: Path) -> str:
    return f"jsonl:{jsonl_folder}"


def run(folder: Path, spec: str, line: str | None = None, **identity: Any) -> PastRun:
    store = made_run(folder, spec, load_dataset(spec), [answered("q1", "Ostrand")])
    manifest = store.manifest() | ({} if line is None else {"lines": {cell().key: line}})
    store.write_manifest(manifest | {"identity": manifest["identity"] | identity})
    return open_past_run(store)


def named(tmp_path: Path, spec: str, one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    runs = {"a": run(tmp_path / "a", spec, **one), "b": run(tmp_path / "b", spec, **other)}
    return [str(difference) for difference in differences(runs, {"a": {}, "b": {}})]


def test_settings_are_named_one_by_one_with_the_value_in_each_run(tmp_path: Path, spec: str) -> None:
    base = {"config": {"retrieval": {"k": 5}, "seed": 0}, "index": INDEX, "arena": "1.0"}
    other = {
        "config": {"retrieval": {"k": 10}, "seed": 0},
        "index": INDEX | {"chunking": {"tokens": 200}},
        "arena": "1.1",
    }
    assert named(tmp_path, spec, base, other) == [
        "retrieval.k: 5 in a, 10 in b",
        "index.chunking.tokens: none in a, 200 in b",
        "arena: 1.0 in a, 1.1 in b",
    ]


def test_what_only_one_run_has_is_no_difference(tmp_path: Path, spec: str) -> None:
    one = {"index": INDEX, "reranker": None, "contestants": {"vanilla": {"code": "x"}}}
    other = {"index": None, "reranker": {"model": "m"}, "contestants": {"ircot": {"code": "y"}}}
    assert named(tmp_path, spec, one, other) == []


def test_long_hashes_are_cut_and_other_texts_are_not(tmp_path: Path, spec: str) -> None:
    one = {"index": {"corpus": "sha256:" + "0" * 64}, "contestants": {"vanilla": {"prompts": "long " * 8}}}
    other = {"index": {"corpus": "sha256:" + "f" * 64}, "contestants": {"vanilla": {"prompts": "short"}}}
    assert named(tmp_path, spec, one, other) == [
        "index.corpus: 000000000000... in a, ffffffffffff... in b",
        f"strategy vanilla.prompts: {'long ' * 8} in a, short in b",
    ]


def test_judges_and_prices_are_settings_too(tmp_path: Path, spec: str) -> None:
    runs = {"a": run(tmp_path / "a", spec), "b": run(tmp_path / "b", spec), "c": run(tmp_path / "c", spec)}
    found = differences(runs, {"a": {"faithfulness": "x"}, "b": {"faithfulness": "y"}, "c": {}})
    assert found == [Difference("judge of faithfulness", {"a": "x", "b": "y"}, "scores")]
    assert found[0].shown("c") == "\N{EN DASH}"
    stated = {"a": {"prices": {"as_of": "2026-01-01", "own": []}}, "b": {"prices": {"as_of": "2026-02-01", "own": []}}}
    assert price_differences(stated) == [Difference("prices.as_of", {"a": "2026-01-01", "b": "2026-02-01"}, "cost")]


@pytest.mark.parametrize(
    ("lines", "meaning"),
    [
        (
            ("line_0", "line_0"),
            "made under the same settings, code and prompts: what differs between those rows is the",
        ),
        (("line_0", "line_1"), "by name the same, and not made under the same settings, code and prompts"),
        ((None, None), "by name the same, and not made under"),
    ],
)
def test_the_same_cell_in_two_runs_is_named_with_what_that_means(
    tmp_path: Path, spec: str, lines: tuple[str | None, str | None], meaning: str
) -> None:
    runs = [(name, run(tmp_path / name, spec, line)) for name, line in zip("ab", lines, strict=True)]
    (note,) = repeated_cells(runs)
    assert note.startswith("1 cell is in a and b, " + meaning)
    assert list(repeated_cells(runs[:1])) == []
