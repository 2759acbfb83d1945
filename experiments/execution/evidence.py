"""Where each question's evidence comes from: the shared index, the gold documents, a live search tool, or nowhere.

What is drawn is drawn by a hash of the question, so that a question always gets the same, in any run and any order.

A search tool is anything with `ainvoke(query)`, such as LangChain's tools.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, islice
from operator import attrgetter
from typing import Any, NoReturn, Protocol

import anyio

from arena.errors import ConfigError, StrategyError
from arena.identity import short_hash
from arena.network import redacted
from arena.protocols import Retriever
from arena.types import (
    LIVE_MODE,
    Dataset,
    Document,
    Hit,
    Passage,
    Retrieval,
    RetrievalRequest,
    RetrievalSeconds,
    well_formed,
)
from indexing.chunking import passages_of


@dataclass(frozen=True, slots=True)
class SharedIndex:
    """Every question, and every strategy, gets the same retriever."""

    retriever: Retriever

    def for_question(self, question_id: str) -> Retriever:
        return self.retriever


@dataclass(frozen=True, slots=True)
class GoldDocuments:
    """Each question gets a retriever over exactly its own supporting documents, in corpus order."""

    documents: Mapping[str, Document]
    supporting: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, dataset: Dataset) -> GoldDocuments:
        """The gold of `dataset`. Corpus order, because the order of the chain would be a hint of its own."""
        place = {document.doc_id: position for position, document in enumerate(dataset.documents)}
        supporting = {
            question_id: tuple(sorted(gold.supporting_ids, key=place.__getitem__))
            for question_id, gold in dataset.gold.items()
        }
        needed = {doc_id for ids in supporting.values() for doc_id in ids}
        return cls({d.doc_id: d for d in dataset.documents if d.doc_id in needed}, supporting)

    def minus_one(self) -> GoldDocuments:
        """Without one document of each question, drawn; a question with fewer than two has none left to be asked on."""
        fewer = {}
        for question_id, ids in self.supporting.items():
            if len(ids) > 1:
                dropped = min(ids, key=partial(_draw, question_id))
                fewer[question_id] = tuple(doc_id for doc_id in ids if doc_id != dropped)
        return replace(self, supporting=fewer)

    def for_question(self, question_id: str) -> Retriever:
        return _Fixed.of([self.documents[doc_id] for doc_id in self.supporting[question_id]])


@dataclass(frozen=True, slots=True)
class GoldAmongDistractors:
    """Each question's gold among `distractors` other documents of the corpus, or all others if those are fewer.

    Drawn without a look at the texts, so most have nothing to do with the question. Order is drawn too: a place tells
    nothing.
    """

    corpus: tuple[Document, ...]
    gold: GoldDocuments
    distractors: int

    def for_question(self, question_id: str) -> Retriever:
        gold = self.gold.supporting[question_id]
        chosen = {doc_id: self.gold.documents[doc_id] for doc_id in gold}
        wanted = min(len(self.corpus), len(gold) + self.distractors)
        drawn = (self.corpus[_draw(question_id, str(number)) % len(self.corpus)] for number in count())
        while len(chosen) < wanted:
            chosen |= {document.doc_id: document for document in islice(drawn, wanted - len(chosen))}
        return _Fixed.of(sorted(chosen.values(), key=lambda document: _draw(question_id, document.doc_id)))


@dataclass(frozen=True, slots=True)
class NoEvidence:
    """For strategies that declare `evidence="none"`: retrieving is a breach of contract."""

    def for_question(self, question_id: str) -> Retriever:
        return _Nothing()


@dataclass(frozen=True, slots=True)
class _Fixed:
    """Answers every request with the same passages, all of them whatever `k` is."""

    passages: Mapping[str, Passage]

    @classmethod
    def of(cls, documents: Iterable[Document]) -> _Fixed:
        """The passages of `documents`, in their order."""
        return cls({passage.passage_id: passage for document in documents for passage in passages_of([document])})

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        hits = (
            Hit(passage.passage_id, passage.doc_id, rank=rank, score=1.0)
            for rank, passage in enumerate(self.passages.values(), start=1)
        )
        return Retrieval(request, tuple(hits))

    def passage(self, passage_id: str) -> Passage:
        return self.passages[passage_id]


class _Nothing:
    async def retrieve(self, request: RetrievalRequest) -> NoReturn:
        raise StrategyError("the strategy retrieves but declares evidence='none': declare evidence='index'")

    def passage(self, passage_id: str) -> NoReturn:
        raise StrategyError(f"no passage {passage_id!r}: the strategy declares evidence='none'")


def _draw(question_id: str, what: str) -> int:
    """A number that question and thing decide, and nothing else."""
    return int.from_bytes(hashlib.sha256(f"{question_id}\0{what}".encode()).digest()[:8], "big")


TIMEOUT_SECONDS = 60.0

_TEXTS = ("content", "snippet", "body", "text")
_ADDRESSES = ("url", "link", "href")


class SearchTool(Protocol):
    """What is asked of a tool: a query in, results out."""

    async def ainvoke(self, query: str) -> Any: ...


def imported(path: str, setting: str, *, call: bool = False) -> Any:
    """What the setting names as `package.module:name`, or what that gives when called without arguments.

    Raises `ConfigError` when it cannot be imported or made.
    """
    module, _, name = path.partition(":")
    try:
        found = attrgetter(name)(importlib.import_module(module))
        return found() if call else found
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"{setting} {path!r} cannot be made: {error}: install it, or put the folder it is in on PYTHONPATH"
        ) from error
    except (Exception, SystemExit) as error:
        raise ConfigError(
            f"{setting} {path!r} cannot be made: {type(error).__name__}: {redacted(str(error))}"
        ) from error


def load_search_tool(path: str) -> SearchTool:
    """The tool that `package.module:factory` gives.

    Raises `ConfigError` when it cannot be imported or made, or has no `ainvoke`.
    """
    tool = imported(path, "external.tool", call=True)
    if not callable(getattr(tool, "ainvoke", None)):
        raise ConfigError(
            f"external.tool {path!r} gives {type(tool).__name__!r}, which has no ainvoke(query): name a function that "
            "takes nothing and returns a search tool"
        )
    found: SearchTool = tool
    return found


@dataclass(frozen=True, slots=True)
class LiveSearch:
    """Each question searches for itself. `name` is the tool's, for messages."""

    tool: SearchTool
    name: str
    timeout_seconds: float = TIMEOUT_SECONDS

    def for_question(self, question_id: str) -> Retriever:
        return _Search(self)


@dataclass(frozen=True, slots=True)
class _Search:
    source: LiveSearch
    found: dict[str, Passage] = field(default_factory=dict)

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        """The first `request.k` results, in the tool's order. Raises `StrategyError` for results of no known form."""
        started = time.perf_counter()
        try:
            with anyio.fail_after(self.source.timeout_seconds):
                results = await self.source.tool.ainvoke(request.query)
        except TimeoutError:
            wait = f"{self.source.timeout_seconds:g} s"
            raise StrategyError(f"search tool {self.source.name!r} found nothing within {wait}") from None
        except Exception as error:
            what = redacted(f"{type(error).__name__}: {error}")
            raise StrategyError(f"search tool {self.source.name!r} failed with {what}") from error
        try:
            passages = list({one.passage_id: one for one in passages_of_results(results)}.values())[: request.k]
        except ValueError as error:
            raise StrategyError(f"search tool {self.source.name!r} gave {error}") from None
        self.found.update((passage.passage_id, passage) for passage in passages)
        hits = (Hit(one.passage_id, one.doc_id, rank, 1.0 / rank) for rank, one in enumerate(passages, start=1))
        seconds = RetrievalSeconds(search=time.perf_counter() - started)
        return Retrieval(RetrievalRequest(request.query, LIVE_MODE, request.k), tuple(hits), seconds)

    def passage(self, passage_id: str) -> Passage:
        return self.found[passage_id]


def passages_of_results(results: Any) -> Iterator[Passage]:
    """What a search tool gave, as passages; results without text are left out.

    A result is a text, or a mapping with `content` or `snippet` and perhaps `title` and `url`; there may be one, a
    list of them, a mapping with such a list under `results`, or JSON of any of these. A document is its address, or
    its text where it has none; the same page always has the same id. Raises ValueError for anything else.
    """
    for result in _listed(_decoded(results)):
        if isinstance(result, str):
            title, address, text = "", "", result
        elif isinstance(result, Mapping):
            title, address, text = (_first(result, names) for names in (("title",), _ADDRESSES, _TEXTS))
        else:
            raise ValueError(f"a result of type {type(result).__name__}: expected a text or a mapping")
        if text.strip():
            doc_id = f"web:{_digest(address or text)}"
            yield Passage(f"{doc_id}#{_digest(text)}", doc_id, title or address, text, 0, len(text))


def _decoded(results: Any) -> Any:
    if isinstance(results, str) and results.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(results)
        except (ValueError, RecursionError):
            return results
    return results


def _listed(results: Any) -> Iterator[Any]:
    if isinstance(results, Mapping) and isinstance(results.get("results"), list):
        results = results["results"]
    yield from results if isinstance(results, list | tuple) else [results]


def _first(result: Mapping[Any, Any], names: tuple[str, ...]) -> str:
    """The text under the first of these names that has one; empty when none has."""
    texts = (result[name] for name in names if isinstance(result.get(name), str))
    return well_formed(next((text for text in texts if text), ""))


def _digest(text: str) -> str:
    return short_hash(well_formed(text))
