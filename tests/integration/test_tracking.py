"""What is in MLflow after a run was copied, looked at through MLflow's own client, on one SQLite database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from arena.datasets.jsonl import write_jsonl
from arena.errors import RunStoreError
from arena.leaderboard.build import CellSummary, Leaderboard
from arena.store import RunStore
from arena.tracking import EXPERIMENT, Tracked, local_uri, track
from tests.integration.finished_run import CELLS, LONG_PROMPT, small_records, write_finished_run
from tests.samples import small_dataset


class Copied(NamedTuple):
    """A run that was copied with two traces per cell, and a client of the database that it was copied to."""

    store: RunStore
    tracked: Tracked
    client: Any

    @property
    def board(self) -> Leaderboard:
        return Leaderboard.model_validate_json(self.store.leaderboard_json())

    def parent(self) -> Any:
        return self.client.get_run(self.tracked.run_id)

    def children(self) -> dict[str, Any]:
        """Cell key -> its MLflow run."""
        return {run.data.tags["cell"]: run for run in children_of(self.client, self.tracked)}

    def traces(self, cell: str) -> list[Any]:
        return traces_of(self.client, self.tracked, self.children()[cell].info.run_id)


def children_of(client: Any, tracked: Tracked) -> list[Any]:
    chosen = f"tags.`mlflow.parentRunId` = '{tracked.run_id}'"
    return list(client.search_runs([tracked.experiment_id], chosen))


def traces_of(client: Any, tracked: Tracked, mlflow_run: str) -> list[Any]:
    return list(client.search_traces(locations=[tracked.experiment_id], run_id=mlflow_run))


def parents(client: Any, name: str) -> list[str]:
    experiment = client.get_experiment_by_name(EXPERIMENT)
    chosen = f"tags.run_id = '{name}' and tags.kind = 'run'"
    return [run.info.run_id for run in client.search_runs([experiment.experiment_id], chosen)]


@pytest.fixture(scope="module")
def runs_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tracked")
    write_jsonl(small_dataset(), folder / "data")
    (folder / "runs").mkdir()
    return folder / "runs"


@pytest.fixture(scope="module")
def copied(runs_dir: Path) -> Copied:
    import mlflow

    store = write_finished_run(runs_dir / "r1", runs_dir.parent / "data", small_records())
    tracked = track(store, None, traces=2)
    return Copied(store, tracked, mlflow.MlflowClient(tracking_uri=local_uri(runs_dir)))


def test_a_parent_for_the_run_and_a_child_for_every_cell(copied: Copied) -> None:
    assert (copied.tracked.change, copied.tracked.cells, copied.tracked.traces) == ("written", 2, 4)
    assert copied.tracked.notes == ()
    assert set(copied.children()) == {cell.key for cell in CELLS}
    parent = copied.parent()
    assert parent.info.run_name == "r1"
    assert parent.info.status == "FINISHED"
    assert parent.info.end_time - parent.info.start_time == 60_000
    assert parent.data.tags["fingerprint"] == "run_0"
    assert "vanilla" in parent.data.tags["mlflow.note.content"]


def test_cells_are_filtered_by_tags(copied: Copied) -> None:
    chosen = (
        "tags.strategy = 'corrective' and tags.retrieval_mode = 'dense' and tags.tier = 'T0' and tags.llm = 'fake:'"
    )
    (found,) = copied.client.search_runs([copied.tracked.experiment_id], chosen)
    tags = found.data.tags
    assert tags["cell"] == CELLS[1].key
    assert tags["valid"] in ("true", "false")
    assert tags["dataset"] == copied.board.dataset.name


def test_metrics_are_those_of_the_leaderboard(copied: Copied) -> None:
    children = copied.children()
    for row in copied.board.cells:
        logged = children[row.cell].data.metrics
        assert logged["n_failed"] == row.n_failed == 1
        assert (
            failure_counts(logged) == {count.failure: count.n for count in row.failures.counts} if row.failures else {}
        )
        for name, summary in valid_metrics(row):
            assert logged.get(name) == summary.mean
            assert logged.get(f"ci_low/{name}") == summary.ci_low
            assert logged.get(f"coverage/{name}") == summary.coverage


def valid_metrics(row: CellSummary) -> list[tuple[str, Any]]:
    return [(name, summary) for name, summary in row.metrics.items() if row.invalid(name) is None]


def failure_counts(logged: dict[str, float]) -> dict[str, float]:
    return {name.removeprefix("failures/"): n for name, n in logged.items() if name.startswith("failures/")}


def test_parameters_are_short_and_the_long_one_is_whole_beside(copied: Copied, tmp_path: Path) -> None:
    params = copied.parent().data.params
    assert params["llm.max_tokens"] == "256"
    assert max(map(len, params.values())) <= 250
    name = "strategy_params.vanilla.prompt"
    assert params[name].endswith(f"(parameters/{name}.txt)")
    path = copied.client.download_artifacts(copied.tracked.run_id, f"parameters/{name}.txt", str(tmp_path))
    assert Path(path).read_text() == LONG_PROMPT
    child = copied.children()[CELLS[0].key].data.params
    assert (child["strategy"], child["k"], child["temperature"]) == ("vanilla", "5", "0.0")


def test_the_run_folder_is_kept_with_the_parent(copied: Copied, tmp_path: Path) -> None:
    names = {Path(one.path).name for one in copied.client.list_artifacts(copied.tracked.run_id, "run")}
    written = {path.name for path in copied.store.folder.iterdir()} - {"run.lock"}
    assert names == written >= {"records.jsonl", "scores.parquet", "questions.parquet", "leaderboard.json"}
    path = copied.client.download_artifacts(copied.tracked.run_id, "run/records.jsonl", str(tmp_path))
    assert Path(path).read_bytes() == copied.store.records_path.read_bytes()


def test_every_cell_has_its_questions_as_a_table(copied: Copied, tmp_path: Path) -> None:
    child = copied.children()[CELLS[0].key]
    path = copied.client.download_artifacts(child.info.run_id, "questions.json", str(tmp_path))
    table = json.loads(Path(path).read_text())
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["data"]]
    assert [row["question_id"] for row in rows] == ["q1", "q2", "q3", "q4", "q5"]
    assert rows[0]["question"] == "Who governs the town near the source of the Orlen Weir?"
    assert (rows[0]["gold"], rows[0]["answer"], rows[0]["em"]) == ("Mirelle Ostrand | Ostrand", "Mirelle Ostrand", 1.0)
    assert json.loads(child.data.tags["mlflow.loggedArtifacts"]) == [{"path": "questions.json", "type": "table"}]


def test_the_dataset_is_an_input_under_its_own_fingerprint(copied: Copied) -> None:
    for run in (copied.parent(), *copied.children().values()):
        (used,) = run.inputs.dataset_inputs
        assert (used.dataset.name, used.dataset.digest) == (
            copied.board.dataset.name,
            copied.board.dataset.fingerprint,
        )


def test_traces_are_of_failures_and_wrong_answers_first(copied: Copied) -> None:
    for cell in CELLS:
        traces = copied.traces(cell.key)
        names = {trace.info.tags["question_id"] for trace in traces}
        assert "q3" in names
        assert len(names) == 2
        assert names <= {"q2", "q3", "q4"}
        states = {trace.info.tags["question_id"]: trace.info.state.value for trace in traces}
        assert states.pop("q3") == "ERROR"
        assert set(states.values()) == {"OK"}


def test_a_trace_can_be_followed(copied: Copied) -> None:
    (trace,) = [one for one in copied.traces(CELLS[0].key) if one.info.tags["question_id"] != "q3"]
    question_id = trace.info.tags["question_id"]
    asked = next(one for one in small_dataset().questions if one.question_id == question_id)
    assert trace.info.request_preview == asked.text
    root, *below = sorted(trace.data.spans, key=lambda span: span.start_time_ns)
    assert root.inputs == {"question": asked.text}
    assert sorted(span.span_type for span in below) == ["CHAT_MODEL", "EVALUATOR", "RETRIEVER"]
    retrieval = next(span for span in below if span.span_type == "RETRIEVER")
    assert retrieval.outputs[0]["metadata"]["gold"] is True
    assert trace.info.token_usage == {"input_tokens": 100, "output_tokens": 5, "total_tokens": 105}
    told = {one.name: one.value for one in trace.info.assessments}
    assert told["failure"] == trace.info.tags["failure_class"]
    assert told["expected_answer"].startswith(small_dataset().gold[question_id].answers[0])
    assert not [span for span in trace.data.spans if span.llm_cost]


def test_again_changes_nothing(copied: Copied) -> None:
    before = [run.to_dictionary() for run in (copied.parent(), *copied.children().values())]
    again = track(copied.store, None, traces=2)
    assert (again.change, again.run_id, again.traces) == ("unchanged", copied.tracked.run_id, 0)
    assert [run.to_dictionary() for run in (copied.parent(), *copied.children().values())] == before
    assert len(copied.traces(CELLS[0].key)) == 2
    assert parents(copied.client, "r1") == [copied.tracked.run_id]


def test_a_run_that_changed_is_replaced_with_all_that_belonged_to_it(copied: Copied, runs_dir: Path) -> None:
    store = write_finished_run(runs_dir / "r2", runs_dir.parent / "data", small_records()[:5])
    old = track(store, None, traces=1)
    (child,) = children_of(copied.client, old)
    assert len(traces_of(copied.client, old, child.info.run_id)) == 1
    (store.folder / "report.html").write_text("<p>new</p>")
    new = track(store, None, traces=1)
    assert new.change == "replaced"
    assert parents(copied.client, "r2") == [new.run_id]
    assert [copied.client.get_run(one).info.lifecycle_stage for one in (old.run_id, child.info.run_id)] == [
        "deleted"
    ] * 2
    assert traces_of(copied.client, old, child.info.run_id) == []
    assert copied.client.list_artifacts(new.run_id, "run/report.html") is not None
    assert track(store, None, traces=1).change == "unchanged"


def test_what_was_broken_off_is_replaced_and_never_doubled(copied: Copied, runs_dir: Path) -> None:
    store = write_finished_run(runs_dir / "r3", runs_dir.parent / "data", small_records()[:5])
    whole = store.records_path.read_bytes()
    store.records_path.write_bytes(whole.replace(b'"q5"', b'"q6"'))
    with pytest.raises(RunStoreError, match="damaged"):
        track(store, None, traces=5)
    (half,) = parents(copied.client, "r3")
    store.records_path.write_bytes(whole)
    done = track(store, None, traces=5)
    assert (done.change, done.traces) == ("replaced", 5)
    assert parents(copied.client, "r3") == [done.run_id] != [half]
    (child,) = children_of(copied.client, done)
    assert len(traces_of(copied.client, done, child.info.run_id)) == 5


def test_without_its_dataset_a_run_is_copied_and_says_what_it_lacks(runs_dir: Path, tmp_path: Path) -> None:
    write_jsonl(small_dataset(), tmp_path / "data")
    store = write_finished_run(runs_dir / "r4", tmp_path / "data", small_records()[:5])
    (tmp_path / "data" / "questions.jsonl").unlink()
    tracked = track(store, None, traces=1)
    assert tracked.traces == 1
    (note,) = tracked.notes
    assert note.startswith("traces name questions and documents by id alone")


def test_a_run_that_is_being_written_is_not_copied(runs_dir: Path, copied: Copied) -> None:
    store = write_finished_run(runs_dir / "r5", runs_dir.parent / "data", small_records()[:5])
    with (
        RunStore.open(store.folder).holding(),
        pytest.raises(RunStoreError, match="run 'r5' is being written by another process"),
    ):
        track(store, None, traces=1)
    assert parents(copied.client, "r5") == []
