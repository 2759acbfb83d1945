"""Writing a run: the parent with the run's files, and a child for every cell with its figures and traces."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from arena.leaderboard.build import CellSummary
from arena.tracking.copies import CONTENT_TAG
from arena.tracking.figures import cell_figures, run_figures
from arena.tracking.finished import FinishedRun
from arena.tracking.parameters import parameters
from arena.tracking.question_table import question_table
from arena.tracking.server import Server
from arena.tracking.tags import cell_tags, run_tags
from arena.tracking.texts import texts_of
from arena.tracking.traces import write_traces

_PARAMS_AT_ONCE, _METRICS_AT_ONCE = 100, 1_000
_TABLE = "questions.json"


@dataclass(frozen=True, slots=True)
class Written:
    """`traces`: how many; `notes`: what could not be written as it should, and why."""

    parent_id: str
    traces: int
    notes: tuple[str, ...]


def write_runs(server: Server, run: FinishedRun) -> Written:
    """Write everything of `run`; the tag that makes it whole comes last."""
    client, table, texts = server.client, question_table(run.store), texts_of(run)
    parent = _new_run(server, run, run_tags(run))
    children: dict[str, str] = {}
    for cell in run.board.cells:
        children[cell.cell] = _new_run(server, run, cell_tags(run, cell, parent))
        settings = {"strategy": cell.strategy, "retrieval_mode": cell.retrieval_mode, "llm": cell.llm}
        _log(client, children[cell.cell], run, settings | _more_settings(cell), cell_figures(cell))
        _log_table(client, children[cell.cell], table.of_cell(cell.cell, texts))
    _log(client, parent, run, run.manifest["config"], run_figures(run.board))
    for path in run.files:
        client.log_artifact(parent, str(path), artifact_path="run")
    traces = write_traces(server, run, children, table, texts)
    for child in children.values():
        client.set_terminated(child, end_time=run.finished_ms)
    client.set_terminated(parent, end_time=run.finished_ms)
    client.set_tag(parent, CONTENT_TAG, run.digest)
    return Written(parent, traces, (texts.note,) if texts.note else ())


def _new_run(server: Server, run: FinishedRun, tags: Mapping[str, str]) -> str:
    given = {name: value for name, value in tags.items() if value}
    created = server.client.create_run(
        server.experiment_id, start_time=run.started_ms, tags=given, run_name=tags["mlflow.runName"]
    )
    return str(created.info.run_id)


def _more_settings(cell: CellSummary) -> dict[str, Any]:
    return {"fidelity_tier": cell.fidelity_tier, "cell": cell.cell, **cell.params}


def _log(client: Any, run_id: str, run: FinishedRun, settings: Mapping[str, Any], figures: Mapping[str, float]) -> None:
    from mlflow.entities import Metric, Param

    found = parameters(settings)
    params = [Param(name, value) for name, value in found.short.items()]
    metrics = [Metric(name, value, run.finished_ms, 0) for name, value in figures.items()]
    for some in _batches(params, _PARAMS_AT_ONCE):
        client.log_batch(run_id, params=some)
    for some in _batches(metrics, _METRICS_AT_ONCE):
        client.log_batch(run_id, metrics=some)
    for path, text in found.long.items():
        client.log_text(run_id, text, path)
    client.log_inputs(run_id, datasets=[_dataset(run)])


def _log_table(client: Any, run_id: str, rows: Mapping[str, Any]) -> None:
    """The cell's questions in the form of MLflow's `log_table`, which its pages show as a table."""
    client.log_text(run_id, json.dumps(rows, ensure_ascii=False), _TABLE)
    client.set_tag(run_id, "mlflow.loggedArtifacts", json.dumps([{"path": _TABLE, "type": "table"}]))


def _batches(entities: Sequence[Any], size: int) -> list[list[Any]]:
    left = iter(entities)
    return list(iter(lambda: list(islice(left, size)), []))


def _dataset(run: FinishedRun) -> Any:
    """The dataset under our own fingerprint, as `mlflow.data` describes one that was not loaded through MLflow."""
    from mlflow.data.code_dataset_source import CodeDatasetSource
    from mlflow.data.meta_dataset import MetaDataset
    from mlflow.entities import Dataset, DatasetInput, InputTag

    asked = run.board.dataset
    source = CodeDatasetSource({"arena.dataset": asked.name})
    described = MetaDataset(source, name=asked.name, digest=asked.fingerprint)  # type: ignore[abstract]
    profile = json.dumps({"n_documents": asked.n_documents, "n_questions": asked.n_questions})
    dataset: Any = Dataset.from_dictionary(described.to_dict() | {"profile": profile})
    return DatasetInput(dataset, [InputTag("mlflow.data.context", "evaluation")])
