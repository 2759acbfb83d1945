"""Write a run to MLflow: the parent with the run's files, and a child for every cell with its figures and traces.

Unknown figures are left out, not logged as 0. `answer_f1` is a mean; what belongs to it stands in groups, which
MLflow's pages show as sections: `ci_low/answer_f1`, `coverage/answer_f1`. A breakdown has means only:
`by_hops/2/answer_f1`. A metric that a guard calls invalid is `invalid/answer_f1`, so that no chart compares it.

Settings become flat, short parameters; one that is too long is kept whole as a text artifact.

Every run that is written carries `arena.run`; a parent gets `arena.content` last of all, so that a copy without it was
broken off. MLflow cannot take back a metric or a parameter, so a copy of another content is replaced, not changed:
first the new one is written, then the old one deleted, with its traces. A deleted run can be restored in MLflow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from arena.leaderboard.build import CellSummary, Leaderboard
from arena.leaderboard.controllers import ControllerSummary
from arena.leaderboard.diagnosis import FailureSummary
from arena.leaderboard.validity import ValidityWarning, concerning
from arena.report.console import render_markdown
from arena.report.names import name_of
from arena.store import QUESTIONS
from arena.tracking.server import Server
from arena.tracking.source import FinishedRun, QuestionTable, texts_of
from arena.tracking.traces import write_traces

_CHARS = 250
_REFUSED = re.compile(r"[^\w.\- :/]", re.ASCII)


def mlflow_name(name: str) -> str:
    """`name` cut to what MLflow takes; a character that it refuses becomes `_`."""
    return _REFUSED.sub("_", name)[:_CHARS]


def run_name(*parts: str) -> str:
    """The parts that say something as the name of a run, cut: a setting may be a whole prompt."""
    return " ".join(filter(None, parts))[:_CHARS]


Figure = tuple[str, float]

_IN_GROUPS = ("ci_low", "ci_high", "n", "coverage", "lower_bound", "upper_bound")
_OWN_NAMES = {"params", "metrics", "breakdown", "failures", "diagnosis", "ranks", "guards", "controllers"}


def cell_figures(cell: CellSummary) -> dict[str, float]:
    """Every known figure of one row of the leaderboard."""
    return _named(_of_cell(cell))


def run_figures(board: Leaderboard) -> dict[str, float]:
    """What the leaderboard says of the run as a whole."""
    return _named(_of_run(board))


def _of_run(board: Leaderboard) -> Iterator[Figure]:
    yield "n_cells", len(board.cells)
    for count in ("n_questions", "n_answered", "n_abstained", "n_failed"):
        yield count, sum(getattr(cell, count) for cell in board.cells)
    yield from _numbers(board.detectable, "detectable/")
    for card in board.judges:
        yield from _numbers(card.model_dump(exclude={"agreements"}), f"judges/{card.judge}/{card.metric}/")
        for agreement in card.agreements:
            place = f"judges/{card.judge}/{card.metric}/{agreement.other}/"
            yield from _numbers(agreement.model_dump(exclude={"other"}), place)


def _of_cell(cell: CellSummary) -> Iterator[Figure]:
    yield from _numbers(cell.model_dump(exclude=_OWN_NAMES))
    yield "n_guards", len(cell.guards)
    yield from _of_metrics(cell)
    for group, values in cell.breakdown.items():
        for value, metrics in values.items():
            valid = {name: one.mean for name, one in metrics.items() if cell.invalid(name) is None}
            yield from ((f"by_{group}/{value}/{name}", mean) for name, mean in valid.items() if mean is not None)
    for name, ranks in cell.ranks.items():
        yield from ((f"rank_{end}/{name}", place) for end, place in (("best", ranks.best), ("worst", ranks.worst)))
        yield f"in_top_group/{name}", ranks.in_top_group
    if cell.failures is not None:
        yield from _of_failures(cell.failures)
    for controller in cell.controllers:
        yield from _of_controller(controller)


def _of_metrics(cell: CellSummary) -> Iterator[Figure]:
    for metric, summary in cell.metrics.items():
        name = metric if cell.invalid(metric) is None else f"invalid/{metric}"
        if summary.mean is not None:
            yield name, summary.mean
        for part in _IN_GROUPS:
            value = getattr(summary, part)
            if value is not None:
                yield f"{part}/{name}", value


def _of_failures(failures: FailureSummary) -> Iterator[Figure]:
    yield from ((f"failures/{count.failure}", count.n) for count in failures.counts)
    yield from ((f"broken_hops/{hop}", questions) for hop, questions in failures.broken_hops.items())


def _of_controller(controller: ControllerSummary) -> Iterator[Figure]:
    for branch in controller.branches:
        place = f"controllers/{controller.node}/{branch.choice}"
        yield f"{place}/n_times", branch.n_times
        yield f"{place}/n_effective", branch.n_effective


def _numbers(fields: Mapping[str, Any], place: str = "") -> Iterator[Figure]:
    """The numbers among `fields`, at any depth; a group's name and a slash stand before what is in it."""
    for name, value in fields.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{place}{name}/")
        elif isinstance(value, int | float):
            yield f"{place}{name}", value


def _named(figures: Iterator[Figure]) -> dict[str, float]:
    return {mlflow_name(name): float(value) for name, value in figures}


PARAM_CHARS = 250
"""The bound of the oldest servers still in use; newer ones take 6,000, which nobody reads in a table."""
_SHOWN_CHARS = 100


@dataclass(frozen=True, slots=True)
class RunParameters:
    """`short`: name -> value. `long`: path of a text artifact -> the whole value; its parameter is cut and names it."""

    short: dict[str, str] = field(default_factory=dict)
    long: dict[str, str] = field(default_factory=dict)


def parameters(settings: Mapping[str, Any]) -> RunParameters:
    """`settings` flattened: `llm.model`; what is None or empty is left out."""
    found = RunParameters()
    for name, text in _flat(settings):
        key = mlflow_name(name)
        if len(text) > PARAM_CHARS:
            path = f"parameters/{key.replace('/', '_')}.txt"
            found.long[path] = text
            text = f"{text[:_SHOWN_CHARS]} ... ({path})"
        found.short[key] = text[:PARAM_CHARS]
    return found


def _flat(settings: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, str]]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{place}{name}.")
        elif value is not None and (text := _text(value)):
            yield f"{place}{name}", text


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in value)
    return str(value)


RUN_TAG, CONTENT_TAG, PARENT_TAG = "arena.run", "arena.content", "mlflow.parentRunId"

_PAGE = 500
_TRACES_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Copies:
    """`whole`: the parent of a complete copy with this content (None: there is none); `stale`: runs of other copies."""

    whole: str | None
    stale: tuple[str, ...]


def find_copies(server: Server, key: str, digest: str, cells: int) -> Copies:
    """All copies of `key` that are not deleted; `digest` and number of `cells` tell a whole one."""
    found = list(_runs_of(server, key))
    whole = next((one.info.run_id for one in found if _is_whole(one, found, digest, cells)), None)
    stale = [one for one in found if whole is None or whole not in (one.info.run_id, one.data.tags.get(PARENT_TAG))]
    return Copies(whole, tuple(one.info.run_id for one in stale))


def delete_copies(server: Server, run_ids: Sequence[str]) -> None:
    """Delete runs and the traces that belong to them. Broken off, it is gone on with by the next `find_copies`."""
    for run_id in run_ids:
        while ids := [trace.info.trace_id for trace in _traces(server, run_id)]:
            if not server.client.delete_traces(server.experiment_id, trace_ids=ids):
                break
        server.client.delete_run(run_id)


def _is_whole(parent: Any, found: Sequence[Any], digest: str, cells: int) -> bool:
    """Whether `parent` is a copy of just this content and all its cells are among `found`."""
    children = sum(one.data.tags.get(PARENT_TAG) == parent.info.run_id for one in found)
    return bool(parent.data.tags.get(CONTENT_TAG) == digest) and children == cells


def _runs_of(server: Server, key: str) -> Iterator[Any]:
    """Every run in MLflow that is tagged as a part of the copy of `key`, page by page."""
    token = None
    while True:
        page = server.client.search_runs(
            [server.experiment_id], f"tags.`{RUN_TAG}` = '{key}'", max_results=_PAGE, page_token=token
        )
        yield from page
        token = page.token
        if not token:
            return


def _traces(server: Server, run_id: str) -> Any:
    return server.client.search_traces(
        locations=[server.experiment_id], run_id=run_id, max_results=_TRACES_AT_ONCE, include_spans=False
    )


_TAG_CHARS = 5_000


def run_tags(run: FinishedRun) -> Mapping[str, str]:
    """Of the parent. Its description is the leaderboard."""
    git = run.manifest.get("git") or {}
    valid = all(_is_valid(cell) for cell in run.board.cells)
    return _shared(run) | {
        "mlflow.runName": run.store.run_id,
        "mlflow.source.name": "arena track",
        "mlflow.source.type": "LOCAL",
        "mlflow.note.content": render_markdown(run.board)[:_TAG_CHARS],
        "kind": "run",
        "valid": _word(valid),
        "warnings": warning_codes(run.board.all_warnings),
        **({"mlflow.source.git.commit": str(git["commit"])} if git.get("commit") else {}),
    }


def cell_tags(run: FinishedRun, cell: CellSummary, parent_id: str) -> Mapping[str, str]:
    """Of a child. Its name tells namesakes apart.

    Its description says what limits it, and what its figures are symptoms of.
    """
    limits = concerning(run.board.all_warnings, cell.cell)
    notes = [f"{one.message[0].upper()}{one.message[1:]}." for one in limits]
    notes += [f"{symptom.reading} Where to act: {symptom.where_to_act}" for symptom in cell.diagnosis]
    return _shared(run) | {
        PARENT_TAG: parent_id,
        "mlflow.runName": run_name(name_of(cell, run.board.cells)),
        "mlflow.note.content": "\n\n".join(notes)[:_TAG_CHARS],
        "kind": "cell",
        "strategy": cell.strategy,
        "retrieval_mode": cell.retrieval_mode,
        "llm": cell.llm or "none",
        "tier": cell.fidelity_tier or "none",
        "cell": cell.cell,
        "warnings": warning_codes(limits),
        "valid": _word(_is_valid(cell)),
        "invalid_metrics": ", ".join(finding.metric for finding in cell.guards if finding.metric),
    }


def warning_codes(warnings: Iterable[ValidityWarning]) -> str:
    """The codes of validity warnings, each once, as one tag; empty where there are none."""
    return ", ".join(dict.fromkeys(one.code for one in warnings))


def _shared(run: FinishedRun) -> dict[str, str]:
    return {
        RUN_TAG: run.key,
        "run_id": run.store.run_id,
        "dataset": run.board.dataset.name,
        "fingerprint": run.board.fingerprint,
    }


def _is_valid(cell: CellSummary) -> bool:
    """Whether the cell as a whole is; a metric of it may still not be."""
    return all(finding.metric is not None for finding in cell.guards)


def _word(truth: bool) -> str:
    return "true" if truth else "false"


_PARAMS_AT_ONCE, _METRICS_AT_ONCE = 100, 1_000
_TABLE = "questions.json"


@dataclass(frozen=True, slots=True)
class Written:
    """`traces`: how many; `notes`: what could not be written as it should, and why."""

    parent_id: str
    traces: int = 0
    notes: tuple[str, ...] = ()


def write_runs(server: Server, run: FinishedRun) -> Written:
    """Write everything of `run`; the tag that makes it whole comes last."""
    client, table, texts = server.client, QuestionTable(run.store.read_table(QUESTIONS)), texts_of(run)
    parent = new_run(server, run_tags(run), run.started_ms)
    children: dict[str, str] = {}
    for cell in run.board.cells:
        children[cell.cell] = new_run(server, cell_tags(run, cell, parent), run.started_ms)
        names = ("strategy", "retrieval_mode", "llm", "fidelity_tier", "cell")
        settings = {name: getattr(cell, name) for name in names} | dict(cell.params)
        _log(client, children[cell.cell], run, settings, cell_figures(cell))
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


def new_run(server: Server, tags: Mapping[str, str], start_ms: int) -> str:
    """Begin a run with those of `tags` that say something, which name it; its id. `start_ms`: of the Unix epoch."""
    given = {name: value for name, value in tags.items() if value}
    return str(server.client.create_run(server.experiment_id, start_time=start_ms, tags=given).info.run_id)


def _log(client: Any, run_id: str, run: FinishedRun, settings: Mapping[str, Any], figures: Mapping[str, float]) -> None:
    log_figures(client, run_id, settings, figures, run.finished_ms)
    client.log_inputs(run_id, datasets=[_dataset(run)])


def log_figures(
    client: Any, run_id: str, settings: Mapping[str, Any], figures: Mapping[str, float], moment_ms: int
) -> None:
    """Write settings as parameters and figures as metrics of that moment (of the Unix epoch)."""
    from mlflow.entities import Metric, Param

    found = parameters(settings)
    params = [Param(name, value) for name, value in found.short.items()]
    metrics = [Metric(name, value, moment_ms, 0) for name, value in figures.items()]
    for at in range(0, len(params), _PARAMS_AT_ONCE):
        client.log_batch(run_id, params=params[at : at + _PARAMS_AT_ONCE])
    for at in range(0, len(metrics), _METRICS_AT_ONCE):
        client.log_batch(run_id, metrics=metrics[at : at + _METRICS_AT_ONCE])
    for path, text in found.long.items():
        client.log_text(run_id, text, path)


def _log_table(client: Any, run_id: str, rows: Mapping[str, Any]) -> None:
    """The cell's questions in the form of MLflow's `log_table`, which its pages show as a table."""
    client.log_text(run_id, json.dumps(rows, ensure_ascii=False), _TABLE)
    client.set_tag(run_id, "mlflow.loggedArtifacts", json.dumps([{"path": _TABLE, "type": "table"}]))


def _dataset(run: FinishedRun) -> Any:
    """The dataset under our own fingerprint, as `mlflow.data` describes one that was not loaded through MLflow."""
    from mlflow.data.code_dataset_source import CodeDatasetSource
    from mlflow.data.meta_dataset import MetaDataset
    from mlflow.entities import Dataset, DatasetInput, InputTag

    asked = run.board.dataset
    source = CodeDatasetSource({"arena.dataset": asked.name})
    described = MetaDataset(source, name=asked.name, digest=asked.fingerprint)
    profile = json.dumps({"n_documents": asked.n_documents, "n_questions": asked.n_questions})
    dataset: Any = Dataset.from_dictionary(described.to_dict() | {"profile": profile})
    return DatasetInput(dataset, [InputTag("mlflow.data.context", "evaluation")])
