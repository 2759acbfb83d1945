"""What each published figure was made under, setting by setting: settings.yaml, a section per paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import ConfigDict, TypeAdapter, with_config

from arena.files import read_yaml_file
from arena.types import Scalar
from experiments.studies.papers.numbers import PublishedNumber

_Part = TypeVar("_Part")
_FILE = Path(__file__).with_name("settings.yaml")
_strict = with_config(ConfigDict(extra="forbid"))


@_strict
@dataclass(frozen=True, slots=True)
class Counterpart:
    """A strategy of the arena that does what the paper's system does, under settings that it must have."""

    strategy: str
    params: Mapping[str, Scalar] = field(default_factory=dict)

    def __str__(self) -> str:
        return ":".join((self.strategy, *(f"{name}={value}" for name, value in self.params.items())))


@_strict
@dataclass(frozen=True, slots=True)
class Reader:
    """The language model that answers.

    `names`: how providers name it, in lower case, without provider, owner and quantisation. `maybe`: names that the
    paper's model goes by, and other models too.
    """

    said: str
    names: frozenset[str] = frozenset()
    maybe: frozenset[str] = frozenset()


@_strict
@dataclass(frozen=True, slots=True)
class PaperRetriever:
    """How passages are found. `embedders`: names of the embedder, where it is dense retrieval (else no mode is it).

    `k`: passages of one retrieval; None where the paper's `k_said` is no one number.
    """

    said: str
    k: int | None
    k_said: str
    embedders: frozenset[str] = frozenset()


@_strict
@dataclass(frozen=True, slots=True)
class Corpus:
    """What is searched. `n_documents` None: the paper does not say. `chunk`: tokens and overlap (None: whole)."""

    said: str
    n_documents: int | None = None
    chunk: tuple[int, int] | None = None
    web: bool = False


@_strict
@dataclass(frozen=True, slots=True)
class Questions:
    """What is asked. `n` questions: `all` of the set, `drawn` (see `papers.drawn`), or which ones is `unsaid`."""

    said: str
    n: int
    chosen: Literal["all", "drawn", "unsaid"]


@_strict
@dataclass(frozen=True, slots=True)
class Measure:
    """What is measured. `ours`: the arena's metric, or `retrievals_per_question`; `kind`: over those questions alone.

    `ours_said`: what ours is where it is another measure than `said` (None: they are the same).
    """

    said: str
    ours: str
    ours_said: str | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class PaperSettings:
    """The settings of one published figure. `retriever` and `corpus` None: nothing is retrieved.

    `trained`: the system's judgements come from a model trained for them, which is tier T2.
    """

    counterparts: tuple[Counterpart, ...]
    reader: Reader
    retriever: PaperRetriever | None
    corpus: Corpus | None
    questions: Questions
    measure: Measure
    trained: bool
    source: str


@dataclass(frozen=True, slots=True)
class NoCounterpart:
    """A published system that no strategy of the arena is, and why."""

    reason: str


SettingsOf = PaperSettings | NoCounterpart | None
"""None: the figure is no result that a run could have, such as a dataset's size or a measure that no run has."""


@_strict
@dataclass(frozen=True, slots=True)
class _System:
    """What a paper's system is here. `retrieves` False: it has no retriever and no corpus."""

    counterparts: tuple[Counterpart, ...]
    trained: bool = False
    retrieves: bool = True


_Choices = Sequence[Mapping[str, Any]]


@_strict
@dataclass(frozen=True, slots=True)
class _Paper:
    """One section of the file, which says what each of these is."""

    source: str
    systems: Mapping[str, _System | str]
    results: Mapping[str, Sequence[str]] = field(default_factory=dict)
    other_systems: str | None = None
    reader: _Choices = ()
    retriever: _Choices = ()
    corpus: _Choices = ()
    questions: _Choices = ()
    measure: _Choices = ()


@cache
def _papers() -> Mapping[str, _Paper]:
    sections = read_yaml_file(_FILE, "settings of the papers")["papers"]
    return TypeAdapter(dict[str, _Paper]).validate_python(sections)


@cache
def settings_of(number: PublishedNumber) -> SettingsOf:
    """The settings of any figure; None where no run could have it."""
    paper, figure = _papers().get(number.paper), asdict(number)
    if paper is None or not _holds(paper.results, figure):
        return None
    system = paper.systems.get(number.system, paper.other_systems)
    if not isinstance(system, _System):
        return NoCounterpart(str(system))
    return PaperSettings(
        system.counterparts,
        _first(Reader, paper.reader, figure),
        _first(PaperRetriever, paper.retriever, figure) if system.retrieves else None,
        _first(Corpus, paper.corpus, figure) if system.retrieves else None,
        _first(Questions, paper.questions, figure),
        _first(Measure, paper.measure, figure),
        system.trained,
        paper.source,
    )


def _holds(condition: Mapping[str, str | Sequence[str]], figure: Mapping[str, Any]) -> bool:
    return all(
        figure[name] == wanted if isinstance(wanted, str) else figure[name] in wanted
        for name, wanted in condition.items()
    )


def _first(kind: type[_Part], choices: _Choices, figure: Mapping[str, Any]) -> _Part:
    """The first choice that holds for the figure."""
    choice = next(one for one in choices if _holds(one.get("when", {}), figure))
    values = {
        name: value[figure[value["by"]]] if isinstance(value, dict) else value
        for name, value in choice.items()
        if name != "when"
    }
    known = {**figure, **values}
    filled = {name: value.format_map(known) if isinstance(value, str) else value for name, value in values.items()}
    return TypeAdapter[_Part](kind).validate_python(filled)
