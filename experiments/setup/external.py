"""Where strategies search beside the run's own index: a second index, or a live tool."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.config import RunConfig
from arena.datasets import load_corpus
from arena.errors import ConfigError
from arena.protocols import EvidenceSource
from arena.types import Dataset, Document, Scalar
from experiments.setup.evidence import SharedIndex
from experiments.setup.search_tool import LiveSearch, load_search_tool
from experiments.terminal.progress import Reporter

if TYPE_CHECKING:
    from indexing.retriever import OpenRetriever
    from strategies import Variant

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
