"""What of a run's equipment is on this machine, and how this machine differs from that which ran it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from arena.config import RunConfig, fingerprint
from arena.types import Dataset
from experiments.run.equipment import chunking_of, index_root, weights_root
from experiments.run.identity import differences
from experiments.run.manifest import changed_between, git_state, library_versions
from experiments.verification.check import Check, found


def weights_here(name: str) -> Path | None:
    """The folder of weights, by name or path; None where they are not on this machine. Nothing is downloaded."""
    from indexing.embedding.opening import NAMED
    from indexing.weights import list_models

    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    return next((one.path for one in list_models(weights_root()) if one.model.name == NAMED.get(name, name)), None)


def check_weights(manifest: Mapping[str, Any], config: RunConfig) -> Iterator[Check]:
    """The hashes of the embedding model's and the reranker's files."""
    identity = manifest["identity"]
    if identity["index"]:
        yield _weights("embedding weights", config.embedding.model, identity["index"]["embedder"])
    if identity["reranker"] and config.rerank.model != "late_interaction":
        yield _weights("reranker weights", config.rerank.model, identity["reranker"])


def check_index(manifest: Mapping[str, Any], config: RunConfig, dataset: Dataset) -> Check:
    """The index: its identity, its files, and that its passages are those of the corpus."""
    from indexing.verify import list_indexes, verify_index

    wanted = dict(manifest["identity"]["index"])
    graph = wanted.pop("graph", None)
    if config.index.engine != "edge":
        return Check("index", "not checked", ("it is in a Qdrant server: arena index verify asks it",))
    if config.chunking.tokens is not None and weights_here(config.embedding.model) is None:
        return Check("index", "not checked", ("its passages are cut by a tokenizer that is not on this machine",))
    for info in list_indexes(index_root()):
        content = info.manifest.model_dump(mode="json")
        if content["identity"] == wanted and (graph is None or fingerprint("files", content["files"]) == graph):
            wrong = verify_index(info.folder, dataset.documents, chunking=chunking_of(config))
            return found("index", wrong, f"{info.manifest.passages} passages")
    return Check("index", "not checked", ("no index of this identity is on this machine",))


def check_here(manifest: Mapping[str, Any]) -> Iterator[Check]:
    """Libraries and commit of this installation against those of the run; they may well be others by now."""
    changed = changed_between(manifest["libraries"], library_versions())
    yield Check("libraries", "note" if changed else "ok", tuple(changed))
    git = differences(manifest["git"], git_state(), "git")
    dirty = (manifest["git"] or {}).get("dirty")
    wrong = [*git, *(["the run was made from a checkout with changes that were not committed"] if dirty else [])]
    yield Check("commit", "note" if wrong else "ok", tuple(wrong))


def _weights(name: str, model: str, known: Mapping[str, Any]) -> Check:
    from indexing.embedding.devices import folder_identity

    folder = weights_here(model)
    if folder is None:
        return Check(name, "not checked", (f"{model!r} is not on this machine",))
    here = folder_identity(folder, trust_remote_code="code_sha256" in known)
    wrong = differences({key: known.get(key) for key in here}, here)
    return found(name, wrong, str(known.get("weights_sha256", "")))
