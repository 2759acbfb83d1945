"""Weights, index and reranker, made ready with progress for whoever waits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from arena.config import LLMSettings, RerankConfig, RunConfig, cache_dir, cache_folder, fingerprint, qdrant_key
from arena.config.settings import LATE_INTERACTION
from arena.errors import UnknownNameError
from arena.leaderboard.validity import index_of, truncation_statement
from arena.llm.opening import model_file, open_model
from arena.llm.providers import LOCAL, parse_model
from arena.protocols import Evaluator, Reranker, Router
from arena.types import Dataset, Document, Purpose
from experiments.execution.budget import reply_cache
from experiments.execution.extras import ExternalSources, SecondIndex, live_search, second_corpus
from experiments.terminal.progress import Reporter
from indexing.chunking import WHOLE_DOCUMENTS, Chunking, TokenWindows
from indexing.engines.ranking import EngineSettings

if TYPE_CHECKING:
    from arena.llm.client import LLMClient
    from arena.llm.limits import Budget
    from experiments.execution.extras import EvaluatorKey
    from indexing.chunking import ModelTokenizer
    from indexing.embedding.embedder import IndexEmbedder
    from indexing.files import Progress
    from indexing.late import LateModels
    from indexing.manifest import IndexManifest
    from indexing.opening import Index
    from indexing.retriever import OpenRetriever
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


@asynccontextmanager
async def paid_model(
    settings: LLMSettings,
    reporter: Reporter,
    *,
    budget: Budget | None,
    purpose: Purpose,
    content_sha256: str | None = None,
) -> AsyncIterator[LLMClient]:
    """The model of these settings, held to `budget` and with the cache of paid replies.

    Errors and the other arguments are those of `open_model`.
    """
    with reply_cache(settings) as cache:
        async with open_model(
            settings,
            weights=lambda name: language_model(name, reporter),
            cache=cache,
            budget=budget,
            purpose=purpose,
            content_sha256=content_sha256,
        ) as model:
            yield model


def embedder_of(
    config: RunConfig, reporter: Reporter, *, cached: bool = True, queries: Iterable[str] = ()
) -> IndexEmbedder:
    """The embedder of a run, its vectors kept between runs unless `cached` is off; opened if it lacks any of `queries`.

    Opened later or never, where what it is is known from before.
    """
    from indexing.embedding.opening import open_embedder

    with downloading(config.embedding.model, reporter) as progress:
        return open_embedder(
            config.embedding,
            weights_root(),
            progress,
            cache_root=cache_dir() / "embeddings",
            cached=cached,
            queries=queries,
        )


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


def open_equipment(
    config: RunConfig,
    dataset: Dataset,
    reporter: Reporter,
    *,
    rerank: bool,
    variants: Sequence[Variant] = (),
    queries: Iterable[str] = (),
    dry: bool = False,
) -> Equipment:
    """The index of the dataset's corpus, opened if it exists, else embedded and built; with a reranker if asked.

    With whatever else the settings of `variants` ask for: another index or a search tool, trained judges of passages
    and of questions.
    What can be refused is refused before anything is embedded. `queries`: what the index will be asked first.

    `dry`: for a dry run, indexes are planned and counted, and nothing is embedded or built. Identities are those of the
    run itself. Nothing reranks; passages are found by shared words.
    """
    from experiments.execution.expectation import Unembedding
    from experiments.execution.extras import open_evaluators, open_routers
    from indexing.late import LateModels

    second = second_corpus(config, variants, dataset.documents)
    live = live_search(config, variants, reporter)
    settings = config.rerank
    embedder = embedder_of(config, reporter, cached=not dry, queries=queries)
    late = LateModels(cache_dir() / "models")
    make = _Workshop(config, reporter, Unembedding(embedder) if dry else embedder, late, dry)
    evaluators = open_evaluators(variants, settings, make.reranker, late)
    routers = open_routers(variants, make.embedder, make.models, settings.devices, late)
    first = make.index(dataset, rerank=rerank)
    reranking = _reranking(settings, first.reranker) if first.reranker is not None else None
    other = make.index(second, rerank=rerank, reranker=first.reranker) if second is not None else None
    return Equipment(
        first.retriever,
        first.identity,
        first.facts,
        reranking,
        ExternalSources(SecondIndex(other.retriever, second.fingerprint) if second and other else None, live),
        evaluators,
        routers,
        other.facts if other else None,
        None if dry else late,
    )


class _Opened(NamedTuple):
    """An index with its identity, facts about it, and what reranks its hits (None: nothing)."""

    retriever: OpenRetriever
    identity: dict[str, Any]
    facts: dict[str, Any]
    reranker: Reranker | None


@dataclass(frozen=True, slots=True)
class _Workshop:
    """What the indexes and rerankers of one run are made with. `models` is held while one of its models works.

    `late`: models, all but the embedder, that are known from before are not opened until they are asked.
    """

    config: RunConfig
    reporter: Reporter
    embedder: IndexEmbedder
    late: LateModels
    dry: bool
    models: Lock = field(default_factory=Lock)

    def reranker(self, settings: RerankConfig, index: Index | None = None) -> Reranker:
        """The reranker of these settings, which may read what the index stores."""
        from indexing.rerank.opening import open_reranker

        with downloading(settings.model, self.reporter) as progress:
            return open_reranker(settings, self.embedder, weights_root(), progress, index=index, late=self.late)

    def index(self, dataset: Dataset, *, rerank: bool, reranker: Reranker | None = None) -> _Opened:
        """The index of a corpus. `reranker`: that of another index of the run, to be shared (None: there is none)."""
        from indexing.retriever import IndexRetriever

        settings = self.config.rerank
        of_index = settings.model == LATE_INTERACTION and not self.dry  # it may read the index's own token vectors
        if rerank and reranker is None and not of_index:
            reranker = self.reranker(settings)
            _reranking(settings, reranker)  # a threshold of another one is refused before anything is embedded
        if self.dry:
            return self._planned(dataset, reranker)
        index = ready_index(self.config, dataset.documents, self.embedder, self.reporter)
        if rerank and of_index:
            reranker = self.reranker(settings, index)
        retriever = IndexRetriever(index, self.embedder, reranker, models=self.models)
        return _Opened(retriever, _index_identity(index.manifest), self._facts(dataset, index.manifest), reranker)

    def _planned(self, dataset: Dataset, reranker: Reranker | None) -> _Opened:
        """An index as it would be; one that is there already tells more of itself."""
        from arena.errors import IndexMismatchError
        from experiments.execution.expectation import PlannedRetriever, counted
        from indexing.manifest import read_manifest
        from indexing.opening import plan_index

        plan = plan_index(dataset.documents, self.embedder, engine_of(self.config), chunking_of(self.config))
        try:
            manifest = read_manifest(index_root() / plan.folder_name)
        except IndexMismatchError:
            identity, facts = plan.identity.model_dump(mode="json"), counted(plan, self.embedder)
            return _Opened(PlannedRetriever(plan), identity, self._advised(dataset, facts), reranker)
        return _Opened(PlannedRetriever(plan), _index_identity(manifest), self._facts(dataset, manifest), reranker)

    def _facts(self, dataset: Dataset, manifest: IndexManifest) -> dict[str, Any]:
        """What a run's manifest keeps of an index."""
        recall = manifest.recall_at_10
        if recall is not None:
            self.reporter.say(f"approximate search in {dataset.name}: recall@10 against exact search is {recall:.3f}")
        return self._advised(dataset, manifest.model_dump(mode="json", exclude={"identity", "files"}))

    def _advised(self, dataset: Dataset, facts: dict[str, Any]) -> dict[str, Any]:
        """`facts`, with what would fit where passages are cut off: a warning of the leaderboard, which is said too."""
        identity = self.embedder.identity
        limit = identity.get("max_length_tokens")
        if facts["truncated_passages"]:
            if isinstance(limit, int):
                facts["fits_tokens"] = self._fits_tokens(dataset, limit)
            told = index_of(facts, dataset.name, dict(identity), self.config.chunking.tokens)
            self.reporter.warn(truncation_statement(told))
        return facts

    def _fits_tokens(self, dataset: Dataset, limit: int) -> int | None:
        """See `longest_that_fit`; found once a process, however many runs there are on the corpus."""
        from indexing.chunking import longest_that_fit

        tokenizer = model_tokenizer(self.config)
        identity = {
            "corpus": dataset.fingerprint,
            "tokenizer": tokenizer.name,
            "embedder": dict(self.embedder.identity),
        }
        key = fingerprint("fits", identity)
        if key not in _FITTING:
            count = self.embedder.count_truncated
            _FITTING[key] = longest_that_fit(dataset.documents, tokenizer, count, limit)
        return _FITTING[key]


_FITTING: dict[str, int | None] = {}


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
