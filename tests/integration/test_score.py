from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.integration.conftest import Arena, Done
from tests.unit.experiments.official_files import (
    ANSWERABLE,
    OFFICIAL,
    OFFICIAL_TWINS,
    PREDICTED,
    PREDICTED_TWINS,
    TWINS,
    Line,
    predicted_line,
    write_lines,
)


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name != "run.lock"}


def refused(done: Done, *parts: str) -> None:
    assert done.code == 2, done
    assert "Traceback" not in done.err + done.out
    for part in parts:
        assert part in done.err, done.err


@pytest.fixture
def musique_study(tmp_path: Path, study: Path) -> Path:
    """The study over three questions in MuSiQue's format."""
    data = write_lines(tmp_path / "dev.jsonl", ANSWERABLE)
    text = study.read_text(encoding="utf-8")
    dataset = next(line for line in text.splitlines() if line.startswith("dataset:"))
    study.write_text(
        text.replace(dataset, f"dataset: musique:{data}") + "strategies: [retrieval_only, vanilla]\nmodes: [dense]\n",
        encoding="utf-8",
    )
    return study


def test_a_run_is_scored_again_to_the_bit(arena: Arena, study: Path, tmp_path: Path) -> None:
    arena("run", study, "--run-id", "r1")
    folder = tmp_path / "runs" / "r1"
    before = files_of(folder)
    for name in ("scores.parquet", "questions.parquet", "calls.jsonl", "leaderboard.json"):
        (folder / name).unlink()
    done = arena("score", folder, "--json")
    assert done.code == 0, done.err
    assert done.out.encode() == before["leaderboard.json"]
    assert files_of(folder) == before


def test_scoring_needs_neither_model_nor_index_nor_weights(
    arena: Arena, study: Path, tmp_path: Path, tiny_embedder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = tmp_path / "weights"
    shutil.copytree(tiny_embedder, weights)
    study.write_text(study.read_text().replace(str(tiny_embedder), str(weights)))
    arena("run", study, "--run-id", "r1")
    folder = tmp_path / "runs" / "r1"
    before = files_of(folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["config"]["llm"]["model"] = "openai:gpt-x"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    shutil.rmtree(weights)
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "nothing"))
    done = arena("score", folder, "--details")
    assert done.code == 0, done.err
    assert (folder / "leaderboard.json").read_bytes() == before["leaderboard.json"]
    assert not (tmp_path / "nothing").exists()


def test_other_data_are_refused_with_both_fingerprints(
    arena: Arena, study: Path, tmp_path: Path, jsonl_folder: Path
) -> None:
    arena("run", study, "--run-id", "r1", "--strategies", "retrieval_only")
    folder = tmp_path / "runs" / "r1"
    before = files_of(folder)
    corpus = jsonl_folder / "corpus.jsonl"
    corpus.write_text(corpus.read_text().replace("1871", "1872"))
    refused(arena("score", folder), "has fingerprint 'ds_", "made on 'ds_", "restore its files")
    assert files_of(folder) == before


def test_a_stopped_run_is_shown_and_left_alone(arena: Arena, study: Path, tmp_path: Path) -> None:
    arena("run", study, "--run-id", "r1", "--strategies", "retrieval_only")
    folder = tmp_path / "runs" / "r1"
    lines = (folder / "records.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "records.jsonl").write_bytes(b"".join(lines[:-3]))
    manifest = json.loads((folder / "manifest.json").read_text()) | {"status": "stopped"}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    before = files_of(folder)
    done = arena("score", folder)
    assert done.code == 0, done.err
    assert "3 of 10 answers are missing" in done.err
    assert "retrieval_only" in done.out
    assert files_of(folder) == before


@pytest.mark.parametrize(
    ("gold", "predicted", "official"),
    [(ANSWERABLE, PREDICTED, OFFICIAL), (TWINS, PREDICTED_TWINS, OFFICIAL_TWINS)],
    ids=["answerable", "full"],
)
def test_anyone_s_predictions_are_scored_officially(
    arena: Arena, tmp_path: Path, gold: tuple[Line, ...], predicted: tuple[Line, ...], official: dict[str, float]
) -> None:
    data = write_lines(tmp_path / "dev.jsonl", gold)
    mine = write_lines(tmp_path / "mine.jsonl", predicted)
    shown = arena("score", "--predictions", mine, "--dataset", f"musique:{data}")
    assert shown.code == 0, shown.err
    for name, value in official.items():
        assert f"{name} {value:.3f}" in shown.out
    assert "predictions:mine" in shown.out
    banner = next(line for line in shown.out.splitlines() if "official figures" in line)
    assert "support_em" not in banner.partition("; ours: ")[0]
    done = arena("score", "--predictions", mine, "--dataset", f"musique:{data}", "--json")
    printed = json.loads(done.out)
    assert printed["official"] | printed["beside_official"] == pytest.approx(official)
    assert list(printed["beside_official"]) == ["support_em"]  # which the official program does not print
    assert [cell["strategy"] for cell in printed["cells"]] == ["predictions:mine"]


def test_predictions_are_a_row_beside_a_run_and_change_none_of_its_files(
    arena: Arena, musique_study: Path, tmp_path: Path
) -> None:
    arena("run", musique_study, "--run-id", "r1")
    folder = tmp_path / "runs" / "r1"
    before = files_of(folder)
    mine = write_lines(tmp_path / "mine.jsonl", PREDICTED)
    done = arena("score", folder, "--predictions", mine, "--json")
    assert done.code == 0, done.err
    printed = json.loads(done.out)
    assert [cell["strategy"] for cell in printed["cells"]] == ["retrieval_only", "vanilla", "predictions:mine"]
    assert printed["cells"][2]["metrics"]["answer_f1"]["mean"] == pytest.approx(OFFICIAL["answer_f1"])
    assert printed["official"] | printed["beside_official"] == pytest.approx(OFFICIAL)
    assert any(one["b"] == printed["cells"][2]["cell"] for one in printed["comparisons"])
    shown = arena("score", folder, "--predictions", mine)
    assert "answer_f1 0.556" in shown.out
    assert "predictions:mine" in shown.out
    assert files_of(folder) == before


@pytest.mark.parametrize(
    ("lines", "parts"),
    [
        (PREDICTED[:2], ("mine.jsonl", "'2hop__3_3'")),
        ((*PREDICTED, predicted_line(4, "x")), ("mine.jsonl:4", "'2hop__4_4'")),
        ((*PREDICTED, PREDICTED[0]), ("mine.jsonl:4", "'2hop__1_1'", "mine.jsonl:1")),
        ((PREDICTED[0] | {"predicted_answer": 7}, *PREDICTED[1:]), ("mine.jsonl:1", "'predicted_answer'", "7")),
        ((PREDICTED[0] | {"predicted_support_idxs": ["1"]}, *PREDICTED[1:]), ("mine.jsonl:1", "support_idxs[0]")),
        ((PREDICTED[0] | {"predicted_answerable": 1}, *PREDICTED[1:]), ("mine.jsonl:1", "'predicted_answerable'")),
        (({"id": "2hop__1_1", "answer": "x"}, *PREDICTED[1:]), ("mine.jsonl:1", "'predicted_answer'")),
    ],
    ids=["missing", "unknown", "repeated", "answer", "support", "answerable", "another format"],
)
def test_predictions_that_cannot_be_read_are_named_by_file_and_line(
    arena: Arena, tmp_path: Path, lines: tuple[Line, ...], parts: tuple[str, ...]
) -> None:
    data = write_lines(tmp_path / "dev.jsonl", ANSWERABLE)
    mine = write_lines(tmp_path / "mine.jsonl", lines)
    refused(arena("score", "--predictions", mine, "--dataset", f"musique:{data}"), *parts)


def test_what_does_not_go_together_is_refused(arena: Arena, study: Path, tmp_path: Path) -> None:
    mine = write_lines(tmp_path / "mine.jsonl", PREDICTED)
    refused(arena("score"), "nothing to score")
    refused(arena("score", "--predictions", mine), "--dataset musique:PATH")
    refused(arena("score", "--predictions", mine, "--dataset", "world"), "'world'", "musique:FILE.jsonl")
    refused(arena("score", "--predictions", tmp_path / "none", "--dataset", f"musique:{mine}"), "mine.jsonl:1")
    refused(arena("score", tmp_path), "no run in")
    arena("run", study, "--run-id", "r1", "--strategies", "retrieval_only")
    refused(arena("score", tmp_path / "runs" / "r1", "--predictions", mine), "jsonl:", "musique:FILE.jsonl")
    refused(arena("score", tmp_path / "runs" / "r1", "--dataset", "world"), "has fingerprint 'ds_", "made on 'ds_")
