"""Own documents that are longer than the model's window: the first command works, and says what was left out."""

from __future__ import annotations

import json
from pathlib import Path

from arena.store.journal import RECORD_LINES, entries
from arena.types import Answer
from tests.integration.conftest import Arena

LONG = "The lighthouse of Pell stands on a rock. " * 400


def long_documents(folder: Path) -> Path:
    """Two documents of 16,000 characters, and three questions."""
    folder.mkdir()
    documents = [{"doc_id": f"d{n}", "title": f"Part {n}", "text": f"Keeper {n} was Ode Varn. {LONG}"} for n in (1, 2)]
    questions = [
        {"question_id": f"q{n}", "question": f"Who was keeper {n}?", "answers": ["Ode Varn"], "supporting_ids": ["d1"]}
        for n in (1, 2, 3)
    ]
    for name, rows in (("corpus", documents), ("questions", questions)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def answers_of(run: Path) -> list[Answer | None]:
    return [record.answer for record in entries(run / "records.jsonl", RECORD_LINES)]


def test_prompts_are_fitted_and_every_renderer_says_so(arena: Arena, tmp_path: Path, tiny_embedder: Path) -> None:
    data, runs = long_documents(tmp_path / "data"), tmp_path / "runs"
    study = ["--dataset", f"jsonl:{data}", "--llm", "fake:", "--set", f"embedding.model={tiny_embedder}"]
    cells = ["--strategies", "vanilla,corrective,ircot,self_rag", "--modes", "dense", "--no-mlflow"]
    done = arena("run", *study, *cells, "--set", "llm.context_tokens=2000", "--runs-dir", runs, "--run-id", "r")
    assert done.code == 0, done.err
    answers = [answer for answer in answers_of(runs / "r") if answer is not None]
    assert len(answers) == 12
    shown = [end - start for answer in answers for one in answer.shown or () for start, end in one.spans]
    assert sum(shown) > 0
    assert max(shown) < len(LONG) // 2
    board = json.loads((runs / "r" / "leaderboard.json").read_text())
    (warning,) = [one for one in board["warnings"] if one["code"] == "fitted_prompts"]
    assert warning["figures"]["questions"] >= 3
    said = "longer than the model's window"
    assert said in " ".join((done.out + done.err).split())
    assert said in " ".join(arena("show", runs / "r", "--markdown").out.split())
    assert (
        said.replace("'", "&#39;") in (runs / "r" / "report.html").read_text()
        or said in (runs / "r" / "report.html").read_text()
    )
    assert arena("verify", runs / "r").code == 0


def test_a_window_that_is_not_reached_changes_nothing(arena: Arena, tmp_path: Path, tiny_embedder: Path) -> None:
    data, runs = long_documents(tmp_path / "data"), tmp_path / "runs"
    study = ["--dataset", f"jsonl:{data}", "--llm", "fake:", "--set", f"embedding.model={tiny_embedder}", "--no-mlflow"]
    for name, bound in (("free", "null"), ("wide", "100000")):
        done = arena(
            *("run", *study, "--strategies", "vanilla", "--modes", "dense", "--runs-dir", runs, "--run-id", name),
            *("--set", f"llm.context_tokens={bound}"),
        )
        assert done.code == 0, done.err
    assert answers_of(runs / "free") == answers_of(runs / "wide")


def test_a_dry_run_fits_prompts_as_the_run_does_and_says_how_many(
    arena: Arena, tmp_path: Path, tiny_embedder: Path
) -> None:
    data, runs = long_documents(tmp_path / "data"), tmp_path / "runs"
    study = ["--dataset", f"jsonl:{data}", "--llm", "openai:m", "--set", f"embedding.model={tiny_embedder}"]
    study += ["--strategies", "vanilla", "--modes", "dense", "--runs-dir", str(runs), "--dry-run"]
    (wide,) = json.loads(arena("run", *study, "--json").out)["cells"]
    (narrow,) = json.loads(arena("run", *study, "--json", "--set", "llm.context_tokens=2000").out)["cells"]
    assert (wide["n_fitted"], narrow["n_fitted"]) == (0, 3)
    assert narrow["input_tokens"] <= 3 * 2000 < wide["input_tokens"]
    assert "window is not known" in " ".join(arena("run", *study).out.split())
    said = " ".join(arena("run", *study, "--set", "llm.context_tokens=2000").out.split())
    assert "3 of 3 questions of the probe have more evidence than 2,000 tokens hold" in said
    local = arena("run", *study, "--llm", "local:smollm2-135m", "--json")
    assert json.loads(local.out)["context_tokens"] == 8192
