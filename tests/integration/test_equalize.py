"""`arena equalize` from a config to a comparison at one price, stopped and gone on with."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from arena.sampling import part_of
from arena.store import RunStore
from indexing import chunking
from indexing.chunking import longest_that_fit
from tests.integration.conftest import Arena

WORLD = ("--dataset", "world", "--modes", "dense", "--set", "sample.limit=6", "--run-id", "e1")


@pytest.fixture
def equalize(arena: Arena, study: Path) -> Any:
    """`equalize("vanilla,ircot", "--target", "3000")` -> exit code, stdout, stderr; over the fictional world."""

    def call(strategies: str, *more: str) -> Any:
        return arena("equalize", study, *WORLD, "--strategies", strategies, "--pilot", "4", *more)

    return call


def spending(folder: Path) -> dict[str, Any]:
    found = json.loads((folder / "equal_budget.json").read_text(encoding="utf-8"))
    return {one["contestant"]: one for one in found["contestants"]} | {"": found}


def test_tokens_are_equal_on_questions_that_no_pilot_asked(
    equalize: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What fits the embedder is looked for once, though its warning belongs to every run on the corpus."""
    looked = []

    def look(*given: Any) -> int | None:
        looked.append(given)
        return longest_that_fit(*given)

    monkeypatch.setattr(chunking, "longest_that_fit", look)
    done = equalize("retrieval_only,vanilla,self_rag,corrective,adaptive,ircot,closed_book", "--corrections", "4")
    assert done.code == 0, done.err
    folder = tmp_path / "runs" / "e1"
    found = spending(folder)
    whole = found.pop("")
    assert whole["status"] == "finished"
    assert whole["target_of"] == "ircot-dense"
    assert (whole["controls"], whole["left_out"]) == (["closed_book"], ["retrieval_only"])
    for one in found.values():
        assert one["reached"], one
        assert one["within_tolerance"], one
        assert abs(one["spent"] / whole["target"] - 1) <= 0.05
        assert one["n_cut"] == 0
    assert found["vanilla-dense"]["default_spent"] < 0.2 * whole["target"]
    assert found["ircot-dense"]["setting"] == {}
    pilots = {key[1] for path in (folder / "pilots").iterdir() for key in RunStore.open(path).done()}
    asked = {key[1] for run in whole["runs"] for key in RunStore.open(Path(run)).done()}
    assert {part_of(one) for one in pilots} == {"dev"}
    assert {part_of(one) for one in asked} == {"eval"}
    assert asked == {key[1] for key in RunStore.open(folder / "default").done()}
    compared = json.loads((folder / "comparison.json").read_text(encoding="utf-8"))
    assert len(compared["cells"]) == 6
    assert len(looked) <= 1
    assert "F1 equal" in done.out


def test_a_stopped_one_goes_on_and_a_finished_one_asks_nothing(equalize: Any, tmp_path: Path) -> None:
    assert equalize("vanilla,ircot").code == 0
    folder = tmp_path / "runs" / "e1"
    journals = {path: path.read_bytes() for path in sorted(folder.rglob("records.jsonl"))}
    summary = (folder / "equal_budget.json").read_bytes()
    assert equalize("vanilla,ircot").code == 0
    assert {path: path.read_bytes() for path in sorted(folder.rglob("records.jsonl"))} == journals
    assert (folder / "equal_budget.json").read_bytes() == summary

    last = sorted((folder / "pilots").iterdir())[-1]
    half = (last / "records.jsonl").read_bytes().splitlines(keepends=True)[:3]
    (last / "records.jsonl").write_bytes(b"".join(half))
    store = RunStore.open(last)
    store.write_manifest(store.manifest() | {"status": "stopped"})
    shutil.rmtree(folder / "equal" / "vanilla-dense_k-95", ignore_errors=True)
    shutil.rmtree(folder / "default")
    assert equalize("vanilla,ircot").code == 0
    assert set(half) <= set((last / "records.jsonl").read_bytes().splitlines(keepends=True))
    assert json.loads((folder / "equal_budget.json").read_bytes())["contestants"] == json.loads(summary)["contestants"]


def test_who_cannot_reach_the_target_is_named(equalize: Any, tmp_path: Path) -> None:
    done = equalize("vanilla,ircot", "--per-question", "calls", "--target", "12")
    assert done.code == 0, done.err
    found = spending(tmp_path / "runs" / "e1")
    assert found["vanilla-dense"]["reason"] == "no setting changes what it spends"
    assert found["vanilla-dense"]["spent"] == 1.0
    assert found["ircot-dense"]["setting"] == {"max_sentences": 11}
    assert "vanilla-dense does not reach the target: no setting changes what it spends" in done.out


def test_dollars_need_a_price(equalize: Any, tmp_path: Path) -> None:
    refused = equalize("vanilla,ircot", "--per-question", "usd")
    assert refused.code == 2
    assert "no price is known for model 'fake:'" in refused.err
    shutil.rmtree(tmp_path / "runs")
    price = "prices={'fake:': {input_usd_per_million: 1.0, output_usd_per_million: 4.0}}"
    done = equalize("vanilla,ircot", "--per-question", "usd", "--set", price, "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert all(one["within_tolerance"] for one in told["contestants"])
    assert told["pilot_target"] == pytest.approx(told["contestants"][1]["pilot_spent"])


def test_a_dry_run_bounds_the_cost_and_makes_nothing(equalize: Any, tmp_path: Path) -> None:
    done = equalize("vanilla,ircot", "--dry-run", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    pilots = {one["contestant"]: one for one in told["bounds"] if one["part"] == "pilots"}
    assert pilots["vanilla-dense"]["questions"] == 4
    assert pilots["vanilla-dense"]["tokens"] == pytest.approx(24 * 4 * told["target"])
    assert not (tmp_path / "runs").exists()
    assert "no folder was made" in equalize("vanilla,ircot", "--dry-run").out


@pytest.mark.parametrize(
    ("strategies", "more", "message"),
    [
        ("vanilla,closed_book", (), "there is nothing to make equal"),
        ("vanilla,ircot", ("--target", "-3"), "is no spending per question"),
        ("vanilla,ircot", ("--tolerance", "5"), "is no share"),
        ("vanilla,ircot", ("--set", "sample.part=dev"), "set it to eval"),
    ],
)
def test_what_means_nothing_is_refused(
    equalize: Any, tmp_path: Path, strategies: str, more: tuple[str, ...], message: str
) -> None:
    done = equalize(strategies, *more)
    assert done.code == 2
    assert message in done.err
    assert not (tmp_path / "runs").exists()


def test_a_folder_of_other_settings_is_left_alone(equalize: Any, arena: Arena, study: Path) -> None:
    assert arena("run", study, "--run-id", "e1", "--strategies", "closed_book").code == 0
    done = equalize("vanilla,ircot")
    assert done.code == 2
    assert "exists and is no equal-budget comparison" in done.err
