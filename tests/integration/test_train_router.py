"""`arena train-router`, from runs of the three ways to a router that a run is routed by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arena.datasets import load_dataset
from arena.sampling import part_of
from arena.store.journal import RECORD_LINES, entries
from tests.integration.conftest import Arena
from tests.tiny_t5 import build_tiny_t5
from tests.unit.experiments.studies.router.planted import planted
from tests.unit.experiments.studies.router.scripted_reader import (
    ALL_BY_LOOP,
    EACH_ITS_OWN,
    ONE_RETRIEVAL_OF_TWO,
    READER,
    ScriptedReader,
    ways_run,
)


@pytest.fixture
def base(tmp_path: Path, tiny_embedder: Path) -> Path:
    """Runs `dev` and `eval` on a small dataset, four of whose dev questions share a document with the part eval."""
    dataset = planted(tmp_path / "data", single=6, multi=6, leaking=4)
    embedding = {"model": str(tiny_embedder)}
    ways_run(tmp_path / "dev", dataset, EACH_ITS_OWN, "dev", embedding=embedding)
    ways_run(tmp_path / "eval", dataset, EACH_ITS_OWN, "eval", embedding=embedding)
    return tmp_path


def row(report: dict[str, Any], policy: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in report["metrics"]["policies"] if one["policy"] == policy)
    return found


@pytest.mark.parametrize("reader", [ONE_RETRIEVAL_OF_TWO, ALL_BY_LOOP], ids=["each way its own", "all by loop"])
def test_a_reader_that_follows_hops_is_routed_well_and_cheaply(
    arena: Arena, tmp_path: Path, tiny_embedder: Path, reader: ScriptedReader
) -> None:
    dataset, embedding = load_dataset("world:2000:11"), {"model": str(tiny_embedder)}
    ways_run(tmp_path / "dev", dataset, reader, "dev", embedding=embedding)
    ways_run(tmp_path / "eval", dataset, reader, "eval", embedding=embedding)
    done = arena("train-router", tmp_path / "dev", "--eval", tmp_path / "eval", "--out", tmp_path / "r", "--json")
    assert done.code == 0, done.err
    report = json.loads(done.out)
    router = row(report, "router")
    assert report["metrics"]["questions"] == 253
    assert router["agreement"]["mean"] >= 0.85
    assert router["steps_against_c"] <= -0.30
    if reader is ONE_RETRIEVAL_OF_TWO:
        assert router["against_c"]["high"] > 0.0  # nothing is lost
    else:
        assert router["against_c"]["mean"] >= -0.06  # what is sent too simple a way
    assert all(reasons == ["shared paragraph"] for reasons in report["kept_out_ids"].values())
    assert report["training"]["questions"] + report["training"]["kept_out"] == 122


def test_the_folder_tells_all_of_itself_and_leaks_are_listed(arena: Arena, base: Path) -> None:
    done = arena("train-router", base / "dev", "--eval", base / "eval", "--out", base / "r")
    assert done.code == 0, done.err
    assert "embedding + logistic regression, for fake:reader.yaml" in done.out
    assert "kept out 4 that share something with the part eval (shared paragraph: 4)" in done.out
    assert {path.name for path in (base / "r").iterdir()} == {"router.json", "weights.safetensors", "CARD.md"}
    card = (base / "r" / "CARD.md").read_text(encoding="utf-8")
    leaked = [one.question_id for one in load_dataset(f"jsonl:{base / 'data'}").questions if "leak" in one.question_id]
    assert all(f"- {question_id}: shared paragraph" in card for question_id in leaked)
    assert "# Router for fake:reader.yaml: embedding + logistic regression" in card
    told = json.loads((base / "r" / "router.json").read_text(encoding="utf-8"))
    assert (told["kind"], told["reader"], told["run"]["run_id"]) == ("light", READER, "dev")
    assert told["training"]["questions"] == 12
    assert told["metrics"]["accuracy"]["mean"] <= 1.0


def test_the_same_runs_and_seed_give_the_same_folder(arena: Arena, base: Path) -> None:
    for name in ("one", "two"):
        assert arena("train-router", base / "dev", "--out", base / name).code == 0
    for file in ("router.json", "weights.safetensors", "CARD.md"):
        assert (base / "one" / file).read_bytes() == (base / "two" / file).read_bytes()


def test_without_a_second_run_it_is_cross_validated(arena: Arena, base: Path) -> None:
    done = arena("train-router", base / "dev", "--out", base / "r", "--json", "--cost-bias", "1")
    assert done.code == 0, done.err
    report = json.loads(done.out)
    assert "in 5 parts, each routed by what the others taught" in report["metrics"]["measured_on"]
    assert row(report, "router")["bias"] == 1.0


def test_a_t5_is_tuned_and_written_too(arena: Arena, base: Path) -> None:
    t5 = build_tiny_t5(base / "tiny", headless=True)
    model = ("--model", f"t5:{t5}", "--epochs", "2")
    done = arena("train-router", base / "dev", "--eval", base / "eval", "--out", base / "r", *model)
    assert done.code == 0, done.err
    assert "T2-local" in done.out
    told = json.loads((base / "r" / "router.json").read_text(encoding="utf-8"))
    assert (told["kind"], told["embedder"], told["training"]["from"]) == ("t5", None, "tiny")
    assert (base / "r" / "model" / "model.safetensors").is_file()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "heavy"), "--model 'heavy': write light, or t5:FOLDER"),
        (("--labels", "gold"), "--labels 'gold': write both or silver"),
        (("--epochs", "3"), "--epochs is for --model t5:FOLDER"),
        (("--mode", "dense"), "no cell for label A in mode 'dense'"),
        (("--model", "t5:nowhere"), "no loadable T5 in 'nowhere'"),
        (("--eval", "RUN"), "has no labelled question of the part eval"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(
    arena: Arena, base: Path, options: tuple[str, ...], message: str
) -> None:
    given = [str(base / "dev") if one == "RUN" else one for one in options]
    done = arena("train-router", base / "dev", "--out", base / "r", *given)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert not list(base.glob("*r*.part"))
    assert not (base / "r").exists()


def test_a_folder_that_is_there_is_left_alone(arena: Arena, base: Path) -> None:
    (base / "r").mkdir()
    done = arena("train-router", base / "dev", "--out", base / "r")
    assert done.code == 2
    assert "is already there: choose another --out" in done.err
    done = arena("train-router", base / "dev", "--out", base / "nowhere" / "r")
    assert "names a new folder inside one that is there" in done.err


def test_code_that_a_runs_embedding_model_brings_is_run_only_for_whoever_trusts_it(arena: Arena, base: Path) -> None:
    manifest = base / "dev" / "manifest.json"
    said = json.loads(manifest.read_text(encoding="utf-8"))
    said["config"]["embedding"]["trust_remote_code"] = True
    manifest.write_text(json.dumps(said), encoding="utf-8")
    refused = arena("train-router", base / "dev", "--out", base / "r")
    assert (refused.code, refused.out) == (2, "")
    assert "say that you trust it: --trust-remote-code" in refused.err
    assert not (base / "r").exists()
    asked = arena("train-router", base / "dev", "--out", base / "r", "--trust-remote-code")
    assert asked.code == 0, asked.err


def test_a_run_is_routed_by_it_and_another_reader_or_embedder_is_refused(
    arena: Arena, base: Path, tiny_embedder: Path
) -> None:
    assert arena("train-router", base / "dev", "--out", base / "r").code == 0
    (base / "reader.yaml").write_text("{}", encoding="utf-8")
    entry = f"adaptive:policy=router:router={base / 'r'}"
    run = ["run", "--dataset", f"jsonl:{base / 'data'}", "--strategies", entry, "--modes", "hybrid", "--no-mlflow"]
    run += ["--runs-dir", str(base / "runs"), "--run-id", "routed", "--set", "sample.part=eval"]
    embed = ("--set", f"embedding.model={tiny_embedder}")
    done = arena(*run, *embed, "--llm", f"fake:{base / 'reader.yaml'}")
    assert done.code == 0, done.err
    records = list(entries(base / "runs" / "routed" / "records.jsonl", RECORD_LINES))
    assert all(part_of(one.question_id) == "eval" for one in records)
    for record in records:
        (decision,) = [one for one in record.decisions if one.node == "classify"]
        assert (decision.tier, decision.score) == ("T1", max(decision.parts.values()))
        assert sum(decision.parts.values()) == pytest.approx(1.0)
        assert {call.role for call in record.calls} <= {"generate", "reason"}
        assert record.cell.params["router_kind"] == "embedding + logistic regression"
        assert len(str(record.cell.params["router_sha"])) == 16
    refused = arena(*run, *embed, "--llm", "fake:")
    assert refused.code == 2
    assert "was trained on what 'fake:reader.yaml' answers, and the run's model is 'fake:'" in refused.err
    elsewhere = arena(*run, *embed, "--llm", f"fake:{base / 'reader.yaml'}", "--set", "embedding.max_length=16")
    assert elsewhere.code == 2
    assert "max_length_tokens: 32 -> 16" in elsewhere.err
