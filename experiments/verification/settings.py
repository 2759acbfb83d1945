"""Settings, plan, data, prompts and code, against what the manifest says of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from arena.config import RunConfig
from arena.errors import WeightsError
from arena.judges.subject import NEEDS
from arena.llm import model_sha256
from arena.plan import RunPlan
from arena.store import MANIFEST, RunStore
from arena.types import Dataset
from experiments.run.identity import contestant_identity, differences, line_fingerprints, run_fingerprint, version_of
from experiments.run.judging import identity_of
from experiments.run.manifest import prices_of
from experiments.run.process import IMPORTED
from experiments.run.scoring import JUDGES
from experiments.verification.check import Check, found
from experiments.verification.here import weights_here
from strategies import find_strategy


def check_fingerprints(manifest: Mapping[str, Any], plan: RunPlan) -> Check:
    """The run's and its cells' fingerprints, from identity and plan as written."""
    wanted = {
        "fingerprint": run_fingerprint(manifest["identity"], plan),
        "lines": line_fingerprints(manifest["identity"], plan),
    }
    wrong = differences({name: manifest.get(name) for name in wanted}, wanted)
    return found("fingerprints", wrong, str(manifest["fingerprint"]))


def check_dataset(manifest: Mapping[str, Any], plan: RunPlan, dataset: Dataset) -> Check:
    """The data as they are now: documents, questions and gold, and that they hold every planned question."""
    wrong = differences(
        {"fingerprint": manifest["identity"]["dataset"], "n_documents": manifest["dataset"]["n_documents"]},
        {"fingerprint": dataset.fingerprint, "n_documents": len(dataset.documents)},
    )
    known = {question.question_id for question in dataset.questions}
    planned = dict.fromkeys(name for cell in plan.cells for name in cell.question_ids)
    wrong += [f"planned question {name!r} is not in it" for name in planned if name not in known]
    return found("dataset", wrong, f"{len(dataset.documents)} documents, {len(planned)} planned questions")


def check_settings(manifest: Mapping[str, Any], config: RunConfig) -> Check:
    """The settings in the manifest against those in its identity: nobody edited one of them."""
    fields, known = config.fingerprint_fields(), manifest["identity"]
    stated = {name: fields.get(name) for name in known["config"]}
    parts = {name: fields[field] for name, field in (("model", "llm"), ("external", "external")) if known[name]}
    wrong = differences({"config": known["config"]} | {name: known[name] for name in parts}, {"config": stated} | parts)
    return found("settings", wrong)


def check_contestants(manifest: Mapping[str, Any]) -> Check:
    """Code and prompts of every strategy, and the release, as installed here. An imported system has neither."""
    contestants = manifest["identity"]["contestants"]
    known = {name: fields for name, fields in contestants.items() if IMPORTED not in fields}
    here = {name: contestant_identity(find_strategy(name)) for name in known}
    release = {"arena": manifest["identity"]["arena"]}
    wrong = differences(known | release, here | {"arena": version_of("rag-strategy-arena")})
    return found("code and prompts", wrong, ", ".join(known) or "none: its records were imported")


def check_model(manifest: Mapping[str, Any], config: RunConfig) -> Check:
    """The file a local model is made of."""
    known = manifest["identity"]["model_sha256"]
    if known is None:
        return Check("model file", "ok", ("none",))
    try:
        here = model_sha256(config.llm, _only_if_here)
    except WeightsError as error:
        return Check("model file", "not checked", (str(error),))
    return found("model file", [] if here == known else [f"sha256 {known} -> {here}"], known)


def check_prices(manifest: Mapping[str, Any], config: RunConfig) -> Check:
    """The price table that the run is priced by, as this installation has it."""
    here = prices_of(config, manifest["started"])
    wrong = differences({name: manifest[name] for name in here}, here)
    return found("prices", wrong, f"{manifest['prices']['source']}, as of {manifest['prices']['as_of']}")


def check_seal(store: RunStore) -> Check:
    """The manifest as a whole against what it said of itself when it was written: warnings, sessions, judge and all."""
    sealed = store.is_sealed()
    if sealed is None:
        return Check(MANIFEST, "note", ("it has no seal: an earlier version wrote it",))
    return found(MANIFEST, [] if sealed else ["it is not as it was written: somebody edited it"], "as it was written")


def check_judge(manifest: Mapping[str, Any], config: RunConfig) -> Iterator[Check]:
    """Whose verdicts count, against the judge in the settings and its prompts as installed here."""
    from arena.judges.ragas import judge_shas

    known = manifest.get(JUDGES)
    if config.judge is None or not known:
        return
    metrics = [metric for metric in config.judge.metrics if metric in known and not NEEDS[metric].embedder]
    try:
        content = model_sha256(config.judge.llm, _only_if_here)
    except WeightsError as error:
        yield Check("judge", "not checked", (str(error),))
        return
    here = judge_shas(identity_of(config.judge, content), metrics)
    wrong = differences({metric: known[metric] for metric in metrics}, dict(here))
    yield found("judge", wrong, ", ".join(metrics))


def check_sessions(manifest: Mapping[str, Any]) -> Iterator[Check]:
    """Who worked on it, and whether it is whole."""
    status, sessions = manifest["status"], manifest["sessions"]
    killed = sum(session["finished"] is None for session in sessions)
    told = f"{len(sessions)} sessions, {killed} killed" if killed else f"{len(sessions)} sessions"
    yield found("status", [] if status == "finished" else [f"{status}: arena run --resume finishes it"], told)
    if manifest["warnings"]:
        yield Check("warnings", "note", tuple(manifest["warnings"]))


def _only_if_here(name: str) -> Path:
    folder = weights_here(name)
    if folder is None:
        raise WeightsError(f"weights {name!r} are not on this machine")
    return folder
