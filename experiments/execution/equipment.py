"""Weights, index and reranker, made ready with progress for whoever waits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from arena.config import LLMSettings, RerankConfig, RunConfig, cache_dir, cache_folder, fingerprint, qdrant_key
from arena.errors import UnknownNameError
from arena.leaderboard.validity import index_of, truncation_statement
from arena.llm.opening import model_file
from arena.llm.providers import LOCAL, parse_model
from arena.protocols import Evaluator, Reranker, Router
from arena.types import Dataset, Document
from experiments.execution.extras import ExternalSources, SecondIndex, live_search, second_corpus
from experiments.terminal.progress import Reporter
from indexing.chunking import WHOLE_DOCUMENTS, Chunking, TokenWindows
from indexing.engines.ranking import EngineSettings

if TYPE_CHECKING:
    from experiments.execution.extras import EvaluatorKey
    from indexing.chunking import ModelTokenizer
    from indexing.embedding import IndexEmbedder
    from indexing.files import Progress
    from indexing.late import LateModels
    from indexing.manifest import IndexManifest
    from indexing.opening import Index, IndexPlan
    from indexing.retriever import IndexRetriever, OpenRetriever
    from strategies import Variant


@dataclass(frozen=True, slots=True)
class Reranking:
    """What the rerank modes run with: the reranker's name, all that identifies it, and the threshold it applies."""

    model: str
    identity: Mapping[str, str | int]
    threshold: float | None


@dataclass(frozen=True, slots=True)
class Equipment:
    """A retriever, what identifies the index and the reranker behind it, and facts about the index and the second one.

    `external`, `evaluators` and `routers` (by folder) are for the contestants whose settings ask for them. `late`: the
    models among all these that were not opened yet.
    """

    retriever: OpenRetriever
    index_identity: Mapping[str, Any]
    index_facts: Mapping[str, Any]
    reranking: Reranking | None
    external: ExternalSources = field(default_factory=ExternalSources)
    evaluators: Mapping[EvaluatorKey, Evaluator] = field(default_factory=dict)
    routers: Mapping[str, Router] = field(default_factory=dict)
    second_index_facts: Mapping[str, Any] | None = None
    late: LateModels | None = None

    @property
    def embedder(self) -> str:
        """Name of the embedding model."""
        return str(self.index_identity["embedder"]["model"])

    def close(self) -> None:
        """Give the indexes back."""
        self.retriever.close()
        self.external.close()


def weights_root() -> Path:
    """Where weights are kept."""
    return cache_folder("weights")


def index_root() -> Path:
    """Where indexes are kept, each in a folder named by its identity."""
    return cache_folder("indexes")


@contextmanager
def downloading(name: str, reporter: Reporter) -> Iterator[Progress]:
    """Report the download of a model, if there is any."""
    with reporter.bytes(f"downloading {name}") as advance:
        yield lambda done, total, label: advance(done, total or 0)


def fetch_weights(name: str, reporter: Reporter) -> Path:
    """The named weights on disk, downloaded on first use."""
    from indexing.weights import fetch

    with downloading(name, reporter) as progress:
        return fetch(name, weights_root(), progress)


def language_model(name: str, reporter: Reporter) -> Path:
    """The file of a named language model, downloaded on first use. Raises as `check_language_model`."""
    check_language_model(name)
    return fetch_weights(name, reporter)


def check_language_model(name: str) -> None:
    """Raise `UnknownNameError` for a name that no language model has: of no weights, or of an encoder's."""
    from indexing.sources import known_weights

    known = [one.name for one in known_weights().values() if one.purpose == "language model"]
    if name not in known:
        raise UnknownNameError("local language model", name, (*known, "PATH.gguf"))


def check_model(settings: LLMSettings) -> None:
    """Refuse a model that cannot be opened, as far as that is known without weights to download or a server to ask.

    Raises what `arena.llm.opening.model_file` raises, and as `check_language_model`.
    """
    model = parse_model(settings)
    if model.provider == LOCAL and not model.name.lower().endswith(".gguf"):
        check_language_model(model.name)
    else:
        model_file(settings, Path)


def embedder_of(
    config: RunConfig, reporter: Reporter, *, cached: bool = True, queries: Iterable[str] = ()
) -> IndexEmbedder:
    """The embedder of a run, its vectors kept between runs unless `cached` is off; opened if it lacks any of `queries`.

    Opened later or never, where what it is is known from before.
    """
    from indexing.embedding import open_embedder

    with downloading(config.embedding.model, reporter) as progress:
        return open_embedder(
            config.embedding,
            weights_root(),
            progress,
            cache_root=cache_dir() / "embeddings",
            cached=cached,
            queries=queries,
        )


def late_models() -> LateModels:
    """For the models of a run, but its embedder: those known from before are not opened until they are asked."""
    from indexing.late import LateModels

    return LateModels(cache_dir() / "models")


def _open_reranker(
    settings: RerankConfig, embedder: IndexEmbedder, reporter: Reporter, late: LateModels, index: Index | None = None
) -> Reranker:
    from indexing.rerank.opening import open_reranker

    with downloading(settings.model, reporter) as progress:
        return open_reranker(settings, embedder, weights_root(), progress, index=index, late=late)


def engine_of(config: RunConfig) -> EngineSettings:
    """Which engine holds the index, and where."""
    index = config.index
    key = qdrant_key(index) if index.url else None
    return EngineSettings(kind=index.engine, url=index.url, api_key=key, path=index.path, search=index.search)


def chunking_of(config: RunConfig) -> Chunking:
    """How documents become passages; tokens are those of the embedding model, whose weights must be here."""
    if config.chunking.tokens is None:
        return WHOLE_DOCUMENTS
    return TokenWindows(config.chunking.tokens, config.chunking.overlap, model_tokenizer(config))


def model_tokenizer(config: RunConfig) -> ModelTokenizer:
    """That of the embedding model, whose weights must be here."""
    from indexing.chunking import ModelTokenizer
    from indexing.embedding.opening import NAMED
    from indexing.weights import locate

    folder, _ = locate(config.embedding, "embedding", NAMED, weights_root())
    return ModelTokenizer(folder)


def ready_equipment(
    config: RunConfig,
    dataset: Dataset,
    reporter: Reporter,
    *,
    rerank: bool,
    variants: Sequence[Variant] = (),
    queries: Iterable[str] = (),
) -> Equipment:
    """The index of the dataset's corpus, opened if it exists, else embedded and built; with a reranker if asked.

    With whatever else the settings of `variants` ask for: another index or a search tool, trained judges of passages
    and of questions.
    What can be refused is refused before anything is embedded. `queries`: what the index will be asked first.
    """
    from experiments.execution.extras import open_evaluators, open_routers
    from indexing.rerank.opening import LATE_INTERACTION

    second = second_corpus(config, variants, dataset.documents)
    live = live_search(config, variants, reporter)
    settings = config.rerank
    embedder = embedder_of(config, reporter, queries=queries)
    models = Lock()
    late = late_models()
    opened = partial(_open_reranker, embedder=embedder, reporter=reporter, late=late)
    evaluators = open_evaluators(variants, settings, opened, late)
    routers = open_routers(variants, embedder, models, settings.devices, late)
    reranker, reranking = None, None
    if rerank and settings.model != LATE_INTERACTION:
        reranker = opened(settings)
        reranking = _reranking(settings, reranker)
    index = ready_index(config, dataset.documents, embedder, reporter)
    if rerank and reranker is None:  # late interaction may read the index's own token vectors
        reranker = opened(settings, index=index)
        reranking = _reranking(settings, reranker)
    facts = _facts(config, dataset, index.manifest, embedder, reporter)
    elsewhere, second_facts = None, None
    if second is not None:
        retriever, second_facts = _second(config, second, embedder, reranker, opened, models, reporter)
        elsewhere = SecondIndex(retriever, second.fingerprint)
    return Equipment(
        _retriever(index, embedder, reranker, models),
        _index_identity(index.manifest),
        facts,
        reranking,
        ExternalSources(elsewhere, live),
        evaluators,
        routers,
        second_facts,
        late,
    )


def planned_equipment(
    config: RunConfig, dataset: Dataset, reporter: Reporter, *, rerank: bool, variants: Sequence[Variant] = ()
) -> Equipment:
    """As `ready_equipment`, for a dry run: indexes are planned and counted, and nothing is embedded or built.

    Identities are those of the run itself. Nothing reranks; passages are found by shared words.
    """
    from experiments.execution.expectation import PlannedRetriever, Unembedding
    from experiments.execution.extras import open_evaluators, open_routers

    second = second_corpus(config, variants, dataset.documents)
    live = live_search(config, variants, reporter)
    settings = config.rerank
    embedder = Unembedding(embedder_of(config, reporter, cached=False))
    late = late_models()
    opened = partial(_open_reranker, embedder=embedder, reporter=reporter, late=late)
    evaluators = open_evaluators(variants, settings, opened, late)
    routers = open_routers(variants, embedder, Lock(), settings.devices, late)
    plan, identity, facts = _planned(config, dataset, embedder, reporter)
    reranking = _reranking(settings, opened(settings)) if rerank else None
    elsewhere, second_facts = None, None
    if second is not None:
        other, _, second_facts = _planned(config, second, embedder, reporter)
        elsewhere = SecondIndex(PlannedRetriever(other), second.fingerprint)
    sources = ExternalSources(elsewhere, live)
    return Equipment(PlannedRetriever(plan), identity, facts, reranking, sources, evaluators, routers, second_facts)


def _planned(
    config: RunConfig, dataset: Dataset, embedder: IndexEmbedder, reporter: Reporter
) -> tuple[IndexPlan, dict[str, Any], dict[str, Any]]:
    """An index as it would be, its identity, and facts about it; one that is there already tells more of itself."""
    from arena.errors import IndexMismatchError
    from experiments.execution.expectation import counted
    from indexing.manifest import read_manifest
    from indexing.opening import plan_index

    plan = plan_index(dataset.documents, embedder, engine_of(config), chunking_of(config))
    try:
        manifest = read_manifest(index_root() / plan.folder_name)
    except IndexMismatchError:
        return (
            plan,
            plan.identity.model_dump(mode="json"),
            _with_advice(counted(plan, embedder), config, dataset, embedder, reporter),
        )
    return plan, _index_identity(manifest), _facts(config, dataset, manifest, embedder, reporter)


def _second(
    config: RunConfig,
    dataset: Dataset,
    embedder: IndexEmbedder,
    reranker: Reranker | None,
    opened: Callable[..., Reranker],
    models: Lock,
    reporter: Reporter,
) -> tuple[IndexRetriever, dict[str, Any]]:
    """A retriever over another corpus, made like the first one and of the same models; and facts about its index."""
    from indexing.rerank.opening import LATE_INTERACTION

    settings = config.rerank
    index = ready_index(config, dataset.documents, embedder, reporter)
    if reranker is not None and settings.model == LATE_INTERACTION:
        reranker = opened(settings, index=index)
    facts = _facts(config, dataset, index.manifest, embedder, reporter)
    return _retriever(index, embedder, reranker, models), facts


def _retriever(index: Index, embedder: IndexEmbedder, reranker: Reranker | None, models: Lock) -> IndexRetriever:
    from indexing.retriever import IndexRetriever

    return IndexRetriever(index, embedder, reranker, models=models)


def _facts(
    config: RunConfig, dataset: Dataset, manifest: IndexManifest, embedder: IndexEmbedder, reporter: Reporter
) -> dict[str, Any]:
    """What a run's manifest keeps of an index."""
    facts: dict[str, Any] = manifest.model_dump(mode="json", exclude={"identity", "files"})
    if manifest.recall_at_10 is not None:
        reporter.say(
            f"approximate search in {dataset.name}: recall@10 against exact search is {manifest.recall_at_10:.3f}"
        )
    return _with_advice(facts, config, dataset, embedder, reporter)


def _with_advice(
    facts: dict[str, Any], config: RunConfig, dataset: Dataset, embedder: IndexEmbedder, reporter: Reporter
) -> dict[str, Any]:
    """`facts`, with what would fit where passages are cut off: a warning of the leaderboard, which is said now too."""
    from indexing.chunking import longest_that_fit

    limit = embedder.identity.get("max_length_tokens")
    if facts["truncated_passages"]:
        if isinstance(limit, int):
            tokenizer = model_tokenizer(config)
            facts["fits_tokens"] = longest_that_fit(dataset.documents, tokenizer, embedder.count_truncated, limit)
        told = index_of(facts, dataset.name, dict(embedder.identity), config.chunking.tokens)
        reporter.warn(truncation_statement(told))
    return facts


def ready_index(
    config: RunConfig,
    documents: Sequence[Document],
    embedder: IndexEmbedder,
    reporter: Reporter,
    *,
    thorough: bool = False,
) -> Index:
    """The index of a config, opened if it exists, else built; `thorough` also reads every file of one that exists."""
    from indexing.build import ensure_index

    with reporter.items(f"embedding {len(documents)} documents") as advance:
        return ensure_index(
            documents,
            embedder,
            index_root(),
            engine=engine_of(config),
            chunking=chunking_of(config),
            thorough=thorough,
            progress=lambda done, total, label: advance(done, total or 0),
            tell=reporter.say,
        )


def _index_identity(manifest: IndexManifest) -> dict[str, Any]:
    """What can change a hit: the index itself and, because no two graphs of the same points are alike, its files."""
    identity: dict[str, Any] = manifest.identity.model_dump(mode="json")
    if identity["search"]["search"] == "hnsw":
        identity["graph"] = fingerprint("files", manifest.model_dump(mode="json")["files"])
    return identity


def _reranking(settings: RerankConfig, reranker: Reranker) -> Reranking:
    from indexing.rerank.opening import resolve_threshold

    return Reranking(str(reranker.identity["model"]), reranker.identity, resolve_threshold(settings, reranker))
