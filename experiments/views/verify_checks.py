"""The checks of a run against its manifest, against this machine, and against what its journals derive again.

Settings, plan, data, prompts and code must be what the manifest says. Scores, ledger and leaderboard are derived again.
What of the equipment is on this machine, and how it differs from the one that ran, is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, starmap, zip_longest
from pathlib import Path
from typing import Any, Literal, TypeVarTuple

from arena.config import RunConfig, fingerprint
from arena.errors import UserError, WeightsError
from arena.files import read_regular
from arena.judges.subject import NEEDS
from arena.llm.opening import model_sha256
from arena.plan import RunPlan
from arena.report.html import render
from arena.scoring import ScoreTable
from arena.scoring.table import question_columns, score_columns
from arena.store import CALLS, LEADERBOARD, MANIFEST, QUESTIONS, REPORT, SCORES, RunStore
from arena.store.files import call_lines
from arena.store.runs import IMPORTED, SYSTEM
from arena.types import Dataset
from experiments.execution.equipment import chunking_of, index_root, weights_root
from experiments.execution.identity import (
    contestant_identity,
    differences,
    line_fingerprints,
    run_fingerprint,
    version_of,
)
from experiments.execution.judging import identity_of
from experiments.execution.manifest import changed_between, git_state, library_versions, prices_of
from experiments.execution.scoring import JUDGES, PastRun, board_of, open_past_run, score_run
from experiments.terminal.progress import Reporter
from experiments.terminal.tables import Console
from experiments.views.report import page_source
from strategies import find_strategy

Arguments = TypeVarTuple("Arguments")

State = Literal["ok", "differs", "not checked", "note"]
"""`not checked`: what it takes is not on this machine. `note`: another machine or time, and no fault of the run's."""

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class RunCheck:
    """What was looked at, how it stands, and what was seen: figures where it is well, differences where it is not."""

    name: str
    state: State
    seen: tuple[str, ...] = ()


def found(name: str, wrong: Iterable[str], well: str = "") -> RunCheck:
    """`differs` with what is wrong, if anything is; else `ok` with what is well."""
    lines = tuple(wrong)
    more = (f"and {len(lines) - _SHOWN} more",) if len(lines) > _SHOWN else ()
    return RunCheck(name, "differs", lines[:_SHOWN] + more) if lines else RunCheck(name, "ok", (well,) if well else ())


def attempted(name: str, check: Callable[[*Arguments], RunCheck], *arguments: *Arguments) -> RunCheck:
    """The check, or the message of what kept it from being made: a file that cannot be read is a difference."""
    return next(several(name, starmap(check, [arguments])))


def several(name: str, checks: Iterator[RunCheck]) -> Iterator[RunCheck]:
    """Checks that are made one after the other, and the message of what ended them early."""
    try:
        yield from checks
    except FileNotFoundError as error:
        yield RunCheck(name, "differs", (f"there is no {str(error.filename)!r}",))
    except (UserError, OSError) as error:
        yield RunCheck(name, "differs", (str(error),))
    except (KeyError, TypeError, AttributeError) as error:
        yield RunCheck(name, "differs", (f"manifest.json lacks what it must hold ({type(error).__name__}: {error})",))


def check_settled(store: RunStore, manifest: Mapping[str, Any], plan: RunPlan, config: RunConfig) -> Iterator[RunCheck]:
    """What was settled before the first question: all that the manifest holds, against itself and this machine."""
    yield from several("status", _check_sessions(manifest))
    yield attempted(MANIFEST, _check_seal, store)
    yield attempted("settings", _check_settings, manifest, config)
    yield attempted("fingerprints", _check_fingerprints, manifest, plan)
    yield attempted("code and prompts", _check_contestants, manifest)
    yield attempted("model file", _check_model, manifest, config)
    yield attempted("prices", _check_prices, manifest, config)
    yield from several("judge", _check_judge(manifest, config))
    yield from several("weights", _check_weights(manifest, config))


def weights_here(name: str) -> Path | None:
    """The folder of weights, by name or path; None where they are not on this machine. Nothing is downloaded."""
    from indexing.embedding.opening import NAMED
    from indexing.weights import list_models

    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    return next((one.path for one in list_models(weights_root()) if one.model.name == NAMED.get(name, name)), None)


def _check_weights(manifest: Mapping[str, Any], config: RunConfig) -> Iterator[RunCheck]:
    """The hashes of the embedding model's and the reranker's files."""
    identity = manifest["identity"]
    if identity["index"]:
        yield _weights("embedding weights", config.embedding.model, identity["index"]["embedder"])
    if identity["reranker"] and config.rerank.model != "late_interaction":
        yield _weights("reranker weights", config.rerank.model, identity["reranker"])


def check_index(manifest: Mapping[str, Any], config: RunConfig, dataset: Dataset) -> RunCheck:
    """The index: its identity, its files, and that its passages are those of the corpus."""
    from indexing.verify import list_indexes, verify_index

    wanted = dict(manifest["identity"]["index"])
    graph = wanted.pop("graph", None)
    if config.index.engine != "edge":
        return RunCheck("index", "not checked", ("it is in a Qdrant server: arena index verify asks it",))
    if config.chunking.tokens is not None and weights_here(config.embedding.model) is None:
        return RunCheck("index", "not checked", ("its passages are cut by a tokenizer that is not on this machine",))
    for info in list_indexes(index_root()):
        content = info.manifest.model_dump(mode="json")
        if content["identity"] == wanted and (graph is None or fingerprint("files", content["files"]) == graph):
            wrong = verify_index(info.folder, dataset.documents, chunking=chunking_of(config))
            return found("index", wrong, f"{info.manifest.passages} passages")
    return RunCheck("index", "not checked", ("no index of this identity is on this machine",))


def check_here(manifest: Mapping[str, Any]) -> Iterator[RunCheck]:
    """Libraries and commit of this installation against those of the run; they may well be others by now."""
    changed = changed_between(manifest["libraries"], library_versions())
    yield RunCheck("libraries", "note" if changed else "ok", tuple(changed))
    git = differences(manifest["git"], git_state(), "git")
    dirty = (manifest["git"] or {}).get("dirty")
    wrong = [*git, *(["the run was made from a checkout with changes that were not committed"] if dirty else [])]
    yield RunCheck("commit", "note" if wrong else "ok", tuple(wrong))


def _weights(name: str, model: str, known: Mapping[str, Any]) -> RunCheck:
    from indexing.devices import folder_identity

    folder = weights_here(model)
    if folder is None:
        return RunCheck(name, "not checked", (f"{model!r} is not on this machine",))
    here = folder_identity(folder, trust_remote_code="code_sha256" in known)
    wrong = differences({key: known.get(key) for key in here}, here)
    return found(name, wrong, str(known.get("weights_sha256", "")))


def _check_fingerprints(manifest: Mapping[str, Any], plan: RunPlan) -> RunCheck:
    """The run's and its cells' fingerprints, from identity and plan as written."""
    wanted = {
        "fingerprint": run_fingerprint(manifest["identity"], plan),
        "lines": line_fingerprints(manifest["identity"], plan),
    }
    wrong = differences({name: manifest.get(name) for name in wanted}, wanted)
    return found("fingerprints", wrong, str(manifest["fingerprint"]))


def check_dataset(manifest: Mapping[str, Any], plan: RunPlan, dataset: Dataset) -> RunCheck:
    """The data as they are now: documents, questions and gold, and that they hold every planned question."""
    wrong = differences(
        {"fingerprint": manifest["identity"]["dataset"], "n_documents": manifest["dataset"]["n_documents"]},
        {"fingerprint": dataset.fingerprint, "n_documents": len(dataset.documents)},
    )
    known = {question.question_id for question in dataset.questions}
    planned = dict.fromkeys(name for cell in plan.cells for name in cell.question_ids)
    wrong += [f"planned question {name!r} is not in it" for name in planned if name not in known]
    return found("dataset", wrong, f"{len(dataset.documents)} documents, {len(planned)} planned questions")


def _check_settings(manifest: Mapping[str, Any], config: RunConfig) -> RunCheck:
    """The settings in the manifest against those in its identity: nobody edited one of them."""
    fields, known = config.fingerprint_fields(), manifest["identity"]
    stated = {name: fields.get(name) for name in known["config"]}
    parts = {name: fields[field] for name, field in (("model", "llm"), ("external", "external")) if known[name]}
    wrong = differences({"config": known["config"]} | {name: known[name] for name in parts}, {"config": stated} | parts)
    return found("settings", wrong)


def _check_contestants(manifest: Mapping[str, Any]) -> RunCheck:
    """Code and prompts of every strategy, and the release, as installed here.

    An imported system has neither; the code of one's own that was asked live runs for nobody who only verifies.
    """
    contestants = manifest["identity"]["contestants"]
    known = {name: fields for name, fields in contestants.items() if not {IMPORTED, SYSTEM} & fields.keys()}
    here = {name: contestant_identity(find_strategy(name)) for name in known}
    release = {"arena": manifest["identity"]["arena"]}
    wrong = differences(known | release, here | {"arena": version_of("rag-strategy-arena")})
    return found("code and prompts", wrong, ", ".join(known) or "none: no strategy of the arena is in it")


def _check_model(manifest: Mapping[str, Any], config: RunConfig) -> RunCheck:
    """The file a local model is made of."""
    known = manifest["identity"]["model_sha256"]
    if known is None:
        return RunCheck("model file", "ok", ("none",))
    try:
        here = model_sha256(config.llm, _only_if_here)
    except WeightsError as error:
        return RunCheck("model file", "not checked", (str(error),))
    return found("model file", [] if here == known else [f"sha256 {known} -> {here}"], known)


def _check_prices(manifest: Mapping[str, Any], config: RunConfig) -> RunCheck:
    """The price table that the run is priced by, as this installation has it."""
    here = prices_of(config, manifest["started"])
    wrong = differences({name: manifest[name] for name in here}, here)
    return found("prices", wrong, f"{manifest['prices']['source']}, as of {manifest['prices']['as_of']}")


def _check_seal(store: RunStore) -> RunCheck:
    """The manifest as a whole against what it said of itself when it was written: warnings, sessions, judge and all."""
    sealed = store.is_sealed()
    if sealed is None:
        return RunCheck(MANIFEST, "note", ("it has no seal: an earlier version wrote it",))
    return found(MANIFEST, [] if sealed else ["it is not as it was written: somebody edited it"], "as it was written")


def _check_judge(manifest: Mapping[str, Any], config: RunConfig) -> Iterator[RunCheck]:
    """Whose verdicts count, against the judge in the settings and its prompts as installed here."""
    from arena.judges.ragas import judge_shas

    known = manifest.get(JUDGES)
    if config.judge is None or not known:
        return
    metrics = [metric for metric in config.judge.metrics if metric in known and not NEEDS[metric].embedder]
    try:
        content = model_sha256(config.judge.llm, _only_if_here)
    except WeightsError as error:
        yield RunCheck("judge", "not checked", (str(error),))
        return
    here = judge_shas(identity_of(config.judge, content), metrics)
    wrong = differences({metric: known[metric] for metric in metrics}, dict(here))
    yield found("judge", wrong, ", ".join(metrics))


def _check_sessions(manifest: Mapping[str, Any]) -> Iterator[RunCheck]:
    """Who worked on it, and whether it is whole."""
    status, sessions = manifest["status"], manifest["sessions"]
    killed = sum(session["finished"] is None for session in sessions)
    told = f"{len(sessions)} sessions, {killed} killed" if killed else f"{len(sessions)} sessions"
    yield found("status", [] if status == "finished" else [f"{status}: arena run --resume finishes it"], told)
    if manifest["warnings"]:
        yield RunCheck("warnings", "note", tuple(manifest["warnings"]))


def _only_if_here(name: str) -> Path:
    folder = weights_here(name)
    if folder is None:
        raise WeightsError(f"weights {name!r} are not on this machine")
    return folder


def check_results(store: RunStore, dataset: Dataset) -> Iterator[RunCheck]:
    """Whether leaderboard and tables are what the journals give: the one byte for byte, the others value for value."""
    run = open_past_run(store, dataset)
    table = score_run(run)
    yield attempted(LEADERBOARD, _check_leaderboard, run, table)
    for name, columns in ((SCORES, score_columns(table)), (QUESTIONS, question_columns(table))):
        yield attempted(name, _check_table, store, name, columns)


def check_report(store: RunStore) -> Iterator[RunCheck]:
    """The page, made again and compared."""
    if not (store.folder / REPORT).exists():
        return
    quiet = Reporter(Console(stderr=True), quiet=True)
    wrong = _lines_apart(read_regular(store.folder / REPORT).decode(), render(page_source(store, quiet)))
    yield found(REPORT, [f"{len(wrong)} lines are not what the run's files give"] if wrong else [], "the same page")


def check_calls(store: RunStore) -> RunCheck:
    """The ledger against the journals, line by line."""
    derived = chain(call_lines(store.records()), call_lines(store.superseded(), superseded=True))
    wrong: list[str] = []
    number = 0
    with (store.folder / CALLS).open("rb") as file:
        for number, (written, wanted) in enumerate(zip_longest(file, derived), start=1):
            if written != wanted and not wrong:
                wrong = [f"line {number} is not what the journals say"]
    return found(CALLS, wrong, f"{number} calls")


def _check_leaderboard(run: PastRun, table: ScoreTable) -> RunCheck:
    text = board_of(run, table).model_dump_json(indent=2) + "\n"
    return found(LEADERBOARD, _lines_apart(run.store.leaderboard_json(), text), "the same, byte for byte")


def _check_table(store: RunStore, name: str, columns: Mapping[str, Iterable[Any]]) -> RunCheck:
    written = store.read_table(name)
    wrong = _columns_apart(written, {key: list(values) for key, values in columns.items()})
    return found(name, wrong, f"{len(next(iter(written.values()), []))} rows")


def _lines_apart(written: str, derived: str) -> list[str]:
    pairs = zip_longest(written.splitlines(), derived.splitlines())
    return [
        f"line {number}: {(old or '').strip()} -> {(new or '').strip()}"
        for number, (old, new) in enumerate(pairs, start=1)
        if old != new
    ]


def _columns_apart(written: dict[str, list[Any]], derived: dict[str, Sequence[Any]]) -> list[str]:
    wrong = [f"column {name} is in one of them only" for name in sorted(written.keys() ^ derived.keys())]
    for name in written.keys() & derived.keys():
        rows = [row for row, (old, new) in enumerate(zip_longest(written[name], derived[name])) if old != new]
        wrong += [f"column {name} differs in {len(rows)} rows, first in row {rows[0]}"] if rows else []
    return sorted(wrong)
