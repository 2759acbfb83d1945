"""The datasets that this package knows by name: how each is loaded, whom to cite for it, and its size in numbers.

An entry turns the argument of a spec (a path, a config of the hub, numbers) into a dataset. What it says of a dataset
is known before any data is loaded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from arena.datasets.hotpot import load_hotpotqa, load_two_wiki
from arena.datasets.hub import FROM_HUB, HubFile, fetch, mirror_of
from arena.datasets.jsonl import load_jsonl
from arena.datasets.musique import load_musique
from arena.errors import DatasetError
from arena.files import read_yaml_file
from arena.text import is_latin, spaced
from arena.types import Dataset, Kind


@dataclass(frozen=True, slots=True)
class Citation:
    """The facts of a BibTeX entry. `authors`: all of them, as "Family, Given"; `key`: how the entry is cited."""

    key: str
    authors: tuple[str, ...]
    title: str
    venue: str
    year: int

    @property
    def short(self) -> str:
        """First author, venue and year in one line."""
        family = self.authors[0].partition(",")[0]
        return f"{family}{' et al.' if len(self.authors) > 1 else ''}, {self.venue} {self.year}"

    @property
    def bibtex(self) -> str:
        """An entry that BibTeX reads; capitals of the title are kept."""
        return (
            f"@misc{{{self.key},\n  author = {{{' and '.join(self.authors)}}},\n  title = {{{{{self.title}}}}},\n"
            f"  howpublished = {{{self.venue}}},\n  year = {{{self.year}}}\n}}"
        )


NOT_STATED = "not stated"
Build = Callable[[str | None], Dataset]


@dataclass(frozen=True, slots=True)
class DatasetEntry:
    """One row of the table of datasets; a third party's entry point in `arena.datasets` names one of these.

    `build` takes what stands after the colon of a spec (None when nothing does) and raises `DatasetError` when
    that will not do. `how_to_write` shows the spec, `source` says where the data come from. `licence` is that of
    the data; `citation` is None where there is nobody to cite.
    """

    build: Build
    summary: str
    how_to_write: str
    source: str
    licence: str = NOT_STATED
    citation: Citation | None = None


def build_jsonl(argument: str | None) -> Dataset:
    """The user's own data in the folder that is the argument; without one, ask for it."""
    if argument is None:
        raise DatasetError("dataset 'jsonl' needs a path: write jsonl:FOLDER")
    return load_jsonl(Path(argument).expanduser())


def from_path_or_hub(name: str, load: Callable[[Path], Dataset], n_questions: int) -> Build:
    """Load from the path that is the argument; without one, or for `hub`, from the pinned file of the hub.

    That must hold `n_questions`.
    """

    def build(argument: str | None) -> Dataset:
        if argument is None or argument == FROM_HUB:
            return load_from_hub(name, load, mirror_of(name), n_questions, hub_cache())
        return load(Path(argument).expanduser())

    return build


def load_from_hub(
    name: str,
    load: Callable[[Path], Dataset],
    file: HubFile,
    n_questions: int,
    root: Path,
    *,
    endpoint: str | None = None,
) -> Dataset:
    """The dataset `name` in `file`, kept under `root`; a note says what was read. `endpoint` is as for `fetch`.

    Raises:
        DatasetError: the file cannot be had or is malformed, or does not hold `n_questions`.
    """
    by_hand = (
        f"Without a network, place {Path(file.path).name} by hand ({file.page}, or the authors' own) and write "
        f"--dataset {name}:{Path(file.path).name}"
    )
    path = fetch(file, root, by_hand, endpoint=endpoint)
    loaded = load(path)
    if len(loaded.questions) != n_questions:
        raise DatasetError(
            f"{path} holds {len(loaded.questions):,} questions, not {n_questions:,} ({file.vouched}); delete it. "
            f"{by_hand}"
        )
    return replace(loaded, name=name, notes=(f"{file.note} It is {file.vouched}.", *loaded.notes))


def build_ragrouter(argument: str | None) -> Dataset:
    """A config or a folder, as `read_request` takes it."""
    from arena.datasets.ragrouter import load_request, read_request  # its columns only when asked for

    return load_request(read_request(argument), hub_cache())


@lru_cache(maxsize=1)  # what makes several runs makes them on one world
def build_world(argument: str | None) -> Dataset:
    """The bundled world, or one of `DOCUMENTS:SEED`."""
    from arena.datasets.world import BUNDLED, make_world  # its word tables only when asked for

    if argument is None:
        return make_world(**BUNDLED)
    try:
        documents, seed = (int(number) for number in argument.split(":"))
    except ValueError:
        raise DatasetError(f"world:{argument}: expected two whole numbers, as in world:1000:7") from None
    return make_world(documents, max(1, documents // 4), seed)


def hub_cache() -> Path:
    """Where files of the hub are kept."""
    from arena.config import cache_folder

    return cache_folder("datasets")


_BUILDS: Mapping[str, Build] = {
    "2wikimultihopqa": from_path_or_hub("2wikimultihopqa", load_two_wiki, n_questions=12_576),
    "hotpotqa": from_path_or_hub("hotpotqa", load_hotpotqa, n_questions=7405),
    "jsonl": build_jsonl,
    "musique": from_path_or_hub("musique", load_musique, n_questions=2417),
    "ragrouter": build_ragrouter,
    "world": build_world,
}


@cache
def known_datasets() -> Mapping[str, DatasetEntry]:
    """The entries of this package by name, in order; table.yaml, read once, says what is known of each."""
    said = read_yaml_file(Path(__file__).with_name("table.yaml"), "table of datasets")
    return {name: _entry(build, **said[name]) for name, build in _BUILDS.items()}


def _entry(build: Build, citation: Mapping[str, Any] | None = None, **said: str) -> DatasetEntry:
    cited = Citation(**{**citation, "authors": tuple(citation["authors"])}) if citation else None
    return DatasetEntry(build, citation=cited, **said)


OFFICIALLY = "as in MuSiQue's official evaluation"
BY_SCRIPT = f"{OFFICIALLY}; texts of other scripts than Latin by a normalisation that knows them"
ENGLISH_ONLY = (
    "lexical_faithfulness, lexical_citation_*: no stop words but English ones are known",
    "failure classes of reading: no word endings but English ones are known",
    "judges: their prompts are in English",
)


@dataclass(frozen=True, slots=True)
class WordCounts:
    """Words of a document's text, title not counted, over all documents.

    White space separates them; in scripts that leave none between words, each character counts as one.
    """

    minimum: int
    median: float
    mean: float
    p95: float
    maximum: int


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """The figures `arena datasets info` shows. Counts are of questions where the name does not say otherwise.

    `by_hops` and `by_shape` leave out questions whose hops or shape the dataset does not say. A homonym title
    is one that at least two documents share; blank titles are none. `gold_share`: share of questions with at
    least one supporting document, in [0, 1]. `words` is None for a dataset without documents, `gold_share`
    for one without questions. `answers_compared`: the normalisation of `answer_em` and its kin. `other_scripts`:
    questions that, or whose answers, hold another script than Latin; `english_only`: what is made for English alone and
    says less on these, empty where there are none.
    """

    name: str
    fingerprint: str
    n_documents: int
    n_questions: int
    by_kind: Mapping[Kind, int]
    by_hops: Mapping[int, int]
    by_shape: Mapping[str, int]
    homonym_titles: int
    documents_with_homonym_title: int
    questions_with_homonym_support: int
    words: WordCounts | None
    gold_share: float | None
    notes: tuple[str, ...]
    answers_compared: str = OFFICIALLY
    other_scripts: int = 0
    english_only: tuple[str, ...] = ()


def describe(dataset: Dataset) -> DatasetInfo:
    """Count what is in `dataset`. Mappings are in ascending order of their keys."""
    questions = dataset.questions
    titles = Counter(document.title for document in dataset.documents if document.title.strip())
    homonyms = {document.doc_id for document in dataset.documents if titles[document.title] > 1}
    judged = [(one, dataset.gold[one.question_id]) for one in questions if one.question_id in dataset.gold]
    supports = [gold.supporting_ids for _, gold in judged]
    other_scripts = sum(not all(map(is_latin, (question.text, *gold.answers))) for question, gold in judged)
    return DatasetInfo(
        name=dataset.name,
        fingerprint=dataset.fingerprint,
        n_documents=len(dataset.documents),
        n_questions=len(questions),
        by_kind=dict(sorted(Counter(question.kind for question in questions).items())),
        by_hops=dict(sorted(Counter(question.hops for question in questions if question.hops is not None).items())),
        by_shape=dict(sorted(Counter(question.hop_shape for question in questions if question.hop_shape).items())),
        homonym_titles=sum(count > 1 for count in titles.values()),
        documents_with_homonym_title=len(homonyms),
        questions_with_homonym_support=sum(not homonyms.isdisjoint(ids) for ids in supports),
        words=_words(dataset),
        gold_share=sum(bool(ids) for ids in supports) / len(questions) if questions else None,
        notes=dataset.notes,
        answers_compared=OFFICIALLY if any(gold.official for gold in dataset.gold.values()) else BY_SCRIPT,
        other_scripts=other_scripts,
        english_only=ENGLISH_ONLY if other_scripts else (),
    )


def _words(dataset: Dataset) -> WordCounts | None:
    counts = [len(spaced(document.text, pairs=False).split()) for document in dataset.documents]
    if not counts:
        return None
    return WordCounts(
        minimum=min(counts),
        median=float(np.median(counts)),
        mean=float(np.mean(counts)),
        p95=float(np.percentile(counts, 95)),
        maximum=max(counts),
    )
