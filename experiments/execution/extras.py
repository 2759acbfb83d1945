"""What contestants use beside the index: an external source, a trained judge of passages, a trained router.

Each is opened once, for all contestants that ask for it by their settings. A router belongs to one reader. A calibrated
threshold is refused where it was chosen on another judge's scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from arena.config import RerankConfig, RunConfig
from arena.config.settings import LATE_INTERACTION
from arena.datasets import load_corpus
from arena.errors import ConfigError
from arena.llm.providers import model_identity
from arena.protocols import Embedder, Evaluator, EvidenceSource, Reranker, Router
from arena.types import Cell, Dataset, Document, Scalar
from experiments.execution.evidence import LiveSearch, SharedIndex, load_search_tool
from experiments.terminal.progress import Reporter
from strategies import Variant

if TYPE_CHECKING:
    from indexing.late import LateModels
    from indexing.retriever import OpenRetriever

SECOND_INDEX, LIVE = "second_index", "live"
IN_MEMORY = ":memory:"


@dataclass(frozen=True, slots=True)
class SecondIndex:
    """An index of another corpus, whose dataset's `fingerprint` changes with any document of it."""

    retriever: OpenRetriever
    fingerprint: str


@dataclass(frozen=True, slots=True)
class ExternalSources:
    """What the contestants of a run may search beside the index; None = none of them does."""

    second: SecondIndex | None = None
    live: LiveSearch | None = None

    def source(self, variant: Variant) -> EvidenceSource | None:
        """The source that `variant` searches; None for one that searches none."""
        if not variant.uses_external:
            return None
        if self.second is not None and kind_of(variant) == SECOND_INDEX:
            return SharedIndex(self.second.retriever)
        return self.live

    def identity(self, variant: Variant) -> dict[str, Scalar]:
        """What the source adds to the identity of the variant's cell."""
        if not variant.uses_external:
            return {}
        if self.second is not None and kind_of(variant) == SECOND_INDEX:
            return {"external_corpus": self.second.fingerprint}
        return {"external_tool": self.live.name} if self.live else {}

    def close(self) -> None:
        if self.second is not None:
            self.second.retriever.close()


def kind_of(variant: Variant) -> str:
    """`second_index` or `live`, as the variant's setting `external` says; without one it is the second index."""
    return LIVE if variant.settings.get("external") == LIVE else SECOND_INDEX


def searching(variants: Iterable[Variant], kind: str) -> tuple[str, ...]:
    """Names of the strategies that search a source of that kind, each once."""
    return tuple(dict.fromkeys(one.spec.name for one in variants if one.uses_external and kind_of(one) == kind))


def check_external(config: RunConfig, variants: Sequence[Variant]) -> None:
    """Raise `ConfigError` where a strategy is to search what the config does not name."""
    wanted = config.external
    second, live = searching(variants, SECOND_INDEX), searching(variants, LIVE)
    if second and wanted.dataset is None:
        raise ConfigError(
            f"{', '.join(second)} is to search a second index, and there is none: set external.dataset to the dataset "
            "whose corpus it holds, or the strategy's external to off"
        )
    if live and wanted.tool is None:
        raise ConfigError(
            f"{', '.join(live)} is to search live, and with nothing: set external.tool to package.module:factory of a "
            "search tool, or the strategy's external to off"
        )
    if second and config.index.path not in (None, IN_MEMORY):
        raise ConfigError(
            f"a second index cannot share the files in index.path {config.index.path!r} with the first: leave "
            "index.path out, or use engine edge or a Qdrant server"
        )


def second_corpus(config: RunConfig, variants: Iterable[Variant], first: Sequence[Document]) -> Dataset | None:
    """The dataset of the second index, if any variant searches one. Raises as `load_corpus` and `check_distinct`."""
    if not searching(variants, SECOND_INDEX) or config.external.dataset is None:
        return None
    second = load_corpus(config.external.dataset)
    check_distinct(first, second.documents, config.external.dataset)
    return second


def live_search(config: RunConfig, variants: Iterable[Variant], reporter: Reporter) -> LiveSearch | None:
    """The live tool, if any variant searches live, with a warning of what that costs. Raises `ConfigError`."""
    live, tool = searching(variants, LIVE), config.external.tool
    if not live or tool is None:
        return None
    reporter.warn(
        f"{', '.join(live)}: live search through {tool!r} may find the answers of a public benchmark, and finds other "
        "things tomorrow: compare these scores with no others"
    )
    return LiveSearch(load_search_tool(tool), tool)


def check_distinct(first: Sequence[Document], second: Sequence[Document], name: str) -> None:
    """Raise `ConfigError` where a document id means one text in the run's corpus and another in the second."""
    known = {document.doc_id: (document.title, document.text) for document in first}
    for document in second:
        here = (document.title, document.text)
        if known.get(document.doc_id, here) != here:
            raise ConfigError(
                f"external.dataset {name!r} has another text under id {document.doc_id!r} than the run's dataset: "
                "evidence is told apart by id; give its documents ids of their own"
            )


EvaluatorKey = tuple[str, str]
"""What kind of evaluator, and which model it is: `t5` and a folder, or `cross_encoder` and a reranker's name."""


def evaluator_key(variant: Variant, run_reranker: str) -> EvaluatorKey | None:
    """Which trained evaluator a variant wants; None = none. `run_reranker` is what `rerank.model` says.

    Raises `ConfigError` for a reranker that reads no text but that of the index.
    """
    wanted = variant.trained
    if wanted is None or wanted.role != "evaluator":
        return None
    if wanted.kind == "t5":
        return ("t5", wanted.model or "")
    model = wanted.model or run_reranker
    if model == LATE_INTERACTION:
        raise ConfigError(
            f"{variant.spec.name}: late_interaction is no cross-encoder and cannot judge: set its reranker, or "
            "rerank.model, to bge-reranker-v2-m3 or another cross-encoder"
        )
    return ("cross_encoder", model)


def open_evaluators(
    variants: Sequence[Variant], rerank: RerankConfig, opened: Callable[[RerankConfig], Reranker], late: LateModels
) -> Mapping[EvaluatorKey, Evaluator]:
    """Every evaluator that the variants want, on the devices of `rerank`; `opened` opens a reranker, a T5 is `late`."""
    keys = dict.fromkeys(key for one in variants if (key := evaluator_key(one, rerank.model)))
    return {key: _open(*key, rerank, opened, late) for key in keys}


def _open(
    kind: str, model: str, rerank: RerankConfig, opened: Callable[[RerankConfig], Reranker], late: LateModels
) -> Evaluator:
    from indexing.rerank.opening import RerankerEvaluator, open_t5_evaluator

    if kind == "t5":
        return open_t5_evaluator(Path(model).expanduser(), rerank, late)
    another = {"model": model, "revision": None, "max_length": None}
    return RerankerEvaluator(opened(rerank if model == rerank.model else rerank.model_copy(update=another)))


def router_folder(variant: Variant) -> str | None:
    """The folder of the router that a variant asks for; None = it asks for none."""
    wanted = variant.trained
    return wanted.model if wanted is not None and wanted.role == "router" else None


def check_readers(config: RunConfig, variants: Iterable[Variant]) -> None:
    """Refuse a router that was trained on the outcomes of another model than the run's.

    Raises:
        ConfigError: it names both.
        WeightsError: a folder holds no router.
    """
    from indexing.routing.opening import read_router_file

    reader = model_identity(config.llm)
    for folder in _folders(variants):
        said = read_router_file(Path(folder).expanduser())
        if said.reader != reader:
            raise ConfigError(
                f"router {folder!r} was trained on what {said.reader!r} answers, and the run's model is {reader!r}: "
                "what one model needs to look up, another knows; train a router on a run of this model"
            )


def open_routers(
    variants: Iterable[Variant],
    embedder: Embedder,
    models: Lock,
    devices: tuple[str, ...] | None,
    late: LateModels | None = None,
) -> Mapping[str, Router]:
    """Folder -> router, of all that the variants want. `models` is held while the embedder works; a T5 may be `late`.

    Raises as `indexing.routing.open_router` does.
    """
    from indexing.routing.opening import open_router

    return {
        folder: open_router(Path(folder).expanduser(), embedder, models, devices=devices, late=late)
        for folder in _folders(variants)
    }


def _folders(variants: Iterable[Variant]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(folder for one in variants if (folder := router_folder(one)) is not None))


_CALIBRATED_FOR = "calibrated_for"


def judge_of(cell: Cell) -> str | None:
    """Who judges, as in `probabilities of openai:NAME` or `scores of bge-reranker-v2-m3`; None = nobody does.

    Two cells with the same judge have scores on the same scale.
    """
    params = cell.params
    match cell.strategy:
        case "corrective":
            evaluator = str(params.get("evaluator"))
            trained = evaluator in ("t5", "cross_encoder")
            return f"scores of {params.get('evaluator_model')}" if trained else f"{evaluator} of {cell.llm}"
        case "self_rag" if params.get("retrieval") == "adaptive":
            how = "reflection tokens" if params.get("checkpoint") else params.get("judge")
            return f"{how} of {cell.llm}"
        case "adaptive" if params.get("policy") == "classifier":
            return f"{params.get('judge')} of {cell.llm}"
        case "adaptive" if params.get("policy") == "router":
            return f"router {params.get('router_sha')}"
    return None


def check_calibrated(cell: Cell) -> None:
    """Refuse thresholds that were chosen on the scores of another judge than the cell's.

    Raises:
        ConfigError: it names both.
    """
    chosen_for, judge = cell.params.get(_CALIBRATED_FOR), judge_of(cell)
    if chosen_for is not None and judge not in (None, chosen_for):
        raise ConfigError(
            f"{cell.strategy}: {cell.params.get('calibrated')} was calibrated on {chosen_for!r} and says nothing about "
            f"{judge!r}: calibrate it for that one, or leave out calibrated and calibrated_for to insist"
        )
