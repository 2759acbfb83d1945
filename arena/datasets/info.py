"""What a dataset is made of, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from arena.text import is_latin
from arena.types import Dataset, Kind

OFFICIALLY = "as in MuSiQue's official evaluation"
BY_SCRIPT = f"{OFFICIALLY}; texts of other scripts than Latin by a normalisation that knows them"
ENGLISH_ONLY = (
    "lexical_faithfulness, lexical_citation_*: no stop words but English ones are known",
    "failure classes of reading: no word endings but English ones are known",
    "judges: their prompts are in English",
)


@dataclass(frozen=True, slots=True)
class WordCounts:
    """White-space separated words of a document's text, title not counted, over all documents."""

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
    supports = [
        dataset.gold[question.question_id].supporting_ids
        for question in questions
        if question.question_id in dataset.gold
    ]
    other_scripts = sum(
        not all(map(is_latin, (question.text, *dataset.gold[question.question_id].answers)))
        for question in questions
        if question.question_id in dataset.gold
    )
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
    counts = np.array([len(document.text.split()) for document in dataset.documents], dtype=np.int64)
    if counts.size == 0:
        return None
    return WordCounts(
        minimum=int(counts.min()),
        median=float(np.median(counts)),
        mean=float(counts.mean()),
        p95=float(np.percentile(counts, 95)),
        maximum=int(counts.max()),
    )
