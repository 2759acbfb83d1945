from __future__ import annotations

import html
import re
from pathlib import Path

import anyio
import httpx
import pytest

from arena.datasets import load_dataset
from arena.store import RunStore
from experiments.views.serve.app import build_app
from tests.samples import answered, cell, failed
from tests.unit.experiments.made_runs import made_run
from tests.unit.experiments.studies.review.reviewed_runs import reviewed_run
from tests.unit.experiments.views.serve.served import client, said

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def runs(tmp_path: Path, jsonl_folder: Path) -> Path:
    """One finished run, one that was stopped after three of four answers, two that are damaged."""
    folder, spec = tmp_path / "runs", f"jsonl:{jsonl_folder}"
    reviewed_run(folder / "done", jsonl_folder)
    records = [answered("q1", "Mirelle Ostrand", ("d1", "d2")), failed("q2"), answered("q3", "no", ("d1",))]
    store = made_run(
        folder / "half", spec, load_dataset(spec), [*records, answered("q4", "x", ("d2",))], status="stopped"
    )
    lines = store.records_path.read_bytes().splitlines(keepends=True)
    store.records_path.write_bytes(b"".join(lines[:3]) + lines[3][:30])
    (folder / HOSTILE.replace("/", "|")).mkdir()
    (folder / HOSTILE.replace("/", "|") / "manifest.json").write_text('{"status": ')
    (folder / "no plan").mkdir()
    (folder / "no plan" / "manifest.json").write_text(
        '{"status": "running", "started": "2026-01-01T00:00:00+00:00", "config": {}, "identity": {}}'
    )
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "manifest.json").write_text("{}")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_list_has_every_run_and_names_what_is_damaged(runs: Path) -> None:
    found = {run["run_id"]: run for run in client(runs).get("/api/runs").json()}
    assert {name: run["status"] for name, run in found.items()} == {
        "done": "finished",
        "half": "stopped",
        "no plan": "damaged",
        "<script>alert(1)<|script>": "damaged",
    }
    assert (found["done"]["done"], found["done"]["planned"]) == (8, 8)
    assert (found["half"]["done"], found["half"]["planned"], found["half"]["failed"]) == (3, 4, 1)
    assert "cannot read plan.json" in found["no plan"]["problem"]
    page = client(runs).get("/").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert 'href="/runs/no%20plan"' in page
    assert "best answer_f1" in page


def test_figures_of_a_run_that_goes_on_are_those_of_its_leaderboard_so_far(runs: Path) -> None:
    (one,) = client(runs).get("/api/runs/half").json()["cells"]
    assert (one["name"], one["done"], one["failed"], one["calls"]) == ("vanilla + dense", 3, 1, 3)
    assert one["tokens"] is None
    f1 = one["figures"]["answer_f1"]
    assert (f1["n"], f1["mean"], f1["coverage"]) == (2, None, pytest.approx(2 / 3))
    assert f1["text"] == "[.33, .67]"


def test_a_finished_run_is_its_report_and_another_its_progress(runs: Path) -> None:
    asking = client(runs)
    assert asking.get("/runs/done").text == "<html>report of done: 8 records</html>"
    live = asking.get("/runs/half")
    assert 'data-run="half"' in live.text
    assert '<script src="/static/live.js" defer>' in live.text
    assert f"<code>arena run --resume --run-id half --runs-dir {runs}</code>" in live.text
    assert asking.get("/runs/half/report").text == "<html>report of half: 3 records</html>"
    damaged = asking.get("/runs/no plan")
    assert damaged.status_code == 422
    assert "cannot read plan.json" in damaged.text


def test_nothing_is_written_whatever_is_asked_for(runs: Path) -> None:
    before, asking = contents(runs), client(runs)
    for path in ("/", "/api/runs", "/runs/done", "/runs/half", "/runs/half/report", "/api/runs/half", "/runs/no plan"):
        asking.get(path)
    assert contents(runs) == before


def test_folders_of_odd_names_are_reached_by_the_links_of_the_list(tmp_path: Path) -> None:
    names = {"a b", "a?b=c", "a#b", "50%25", "a&amp;b", "a'b\"c", "\u5927\u962a", "back\\slash", "a+b"}
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text('{"status": ')

    async def ask() -> set[str]:
        # Not the test client: it decodes a path once more than a server does.
        over = httpx.ASGITransport(build_app(tmp_path, report_of=said, patience_seconds=None))
        async with httpx.AsyncClient(transport=over, base_url="http://127.0.0.1:8000") as asking:
            links = re.findall('href="(/runs/[^"]*)"', (await asking.get("/")).text)
            pages = [(await asking.get(html.unescape(link))).text for link in links]
            return {html.unescape(page.partition("<h1>")[2].partition("</h1>")[0]) for page in pages}

    assert anyio.run(ask) == names


@pytest.mark.parametrize(
    "path",
    [
        "/runs/none",
        "/runs/..%2Foutside",
        "/runs/%2e%2e%2foutside",
        "/runs/%2e%2e",
        "/runs/%252e%252e%252foutside",
        "/runs/done%2f",
        "/runs/done/manifest.json",
        "/api/runs/..%2Foutside",
        "/runs/%00",
        "/static/..%2fapp.py",
        "/static/app.py",
        "/docs",
        "/openapi.json",
    ],
)
def test_no_path_leads_to_anything_else(runs: Path, path: str) -> None:
    assert client(runs).get(path).status_code == 404


def test_a_report_is_made_once_until_the_folder_changes(runs: Path, jsonl_folder: Path) -> None:
    asking, store = client(runs), RunStore(runs / "half")
    assert "3 records" in asking.get("/runs/half/report").text
    with store.writing() as journal:
        journal.append(answered("q4", "x", ("d2",), of=cell()))
    assert "4 records" in asking.get("/runs/half/report").text
    assert asking.get("/api/runs/half").json()["done"] == 4


def test_a_folder_without_runs_says_so(tmp_path: Path) -> None:
    assert "There is no run here yet" in client(tmp_path).get("/").text
    assert client(tmp_path / "none").get("/api/runs").json() == []


def sweep_of(folder: Path, jsonl_folder: Path) -> None:
    """A sweep of two points, of which the second was stopped."""
    spec = f"jsonl:{jsonl_folder}"
    reviewed_run(folder / "k-1", jsonl_folder)
    made_run(folder / "k-5", spec, load_dataset(spec), [answered("q1", "x", ("d1",))], status="stopped")
    (folder / "sweep.json").write_text('{"status": "running"}', encoding="utf-8")


def test_sweeps_and_what_they_made_are_listed_and_shown(runs: Path, jsonl_folder: Path) -> None:
    sweep_of(runs / "k_sweep", jsonl_folder)
    reviewed_run(runs / "other" / "k-1", jsonl_folder)
    asking = client(runs)
    found = {run["run_id"]: run["status"] for run in asking.get("/api/runs").json()}
    assert (found["k_sweep/k-1"], found["k_sweep/k-5"]) == ("finished", "stopped")
    assert "other/k-1" not in found
    page = asking.get("/").text
    assert "<td>k_sweep</td><td>sweep</td><td>running</td>" in page
    assert 'href="/runs/k_sweep/k-5"' in page
    assert "report of k-1" in asking.get("/runs/k_sweep/k-1").text
    assert "report of k-5" in asking.get("/runs/k_sweep/k-5/report").text
    assert asking.get("/runs/k_sweep/..").status_code == 404
    assert asking.get("/runs/k_sweep").status_code == 404


def test_a_fake_models_figures_are_marked_and_failures_and_warnings_stand_in_the_list(runs: Path) -> None:
    page = client(runs).get("/").text
    assert "fake model: says nothing" in page
    assert "1 failed" in page
    (done,) = [one for one in client(runs).get("/api/runs").json() if one["run_id"] == "done"]
    assert any("say nothing about a language model" in one for one in done["warnings"])
    assert all(cell["fake"] for cell in done["cells"])
