"""What a reranker's threshold would have left of one retrieval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.types import Document, Gold, Hit, Kind, RunRecord


@dataclass(frozen=True, slots=True)
class Reranked:
    """The first k passages of one question's own retrieval as they would be without a threshold, best first.

    `scores`, `doc_ids`, `words`: one of each a passage. Any threshold leaves a head of them, so that a journal tells of
    every threshold, whatever the run's own was.
    """

    question_id: str
    kind: Kind
    gold: Gold
    scores: tuple[float, ...]
    doc_ids: tuple[str, ...]
    words: tuple[int, ...]

    def shown(self, threshold: float | None) -> int:
        """Passages that reach the threshold."""
        return sum(threshold is None or score >= threshold for score in self.scores)

    @property
    def best_gold(self) -> float | None:
        """The score above which no gold evidence is left; None = there is none to lose."""
        gold = set(self.gold.supporting_ids)
        return max((score for score, one in zip(self.scores, self.doc_ids, strict=True) if one in gold), default=None)


def reranked(
    records: Sequence[RunRecord],
    kinds: Mapping[str, Kind],
    texts: Mapping[str, str],
    gold: Mapping[str, Gold],
    documents: Mapping[str, Document],
) -> list[Reranked]:
    """The retrieval of every record that asked for the question itself; others say nothing of it.

    `kinds`, `texts`: of each question by id.
    """
    found = []
    for record in records:
        first = next((one for one in record.retrievals if one.request.query == texts[record.question_id]), None)
        passages = (*first.hits, *first.dropped)[: first.request.k] if first else ()
        if passages:
            found.append(
                Reranked(
                    record.question_id,
                    kinds[record.question_id],
                    gold[record.question_id],
                    tuple(hit.score for hit in passages),
                    tuple(hit.doc_id for hit in passages),
                    tuple(_words(hit, documents) for hit in passages),
                )
            )
    return found


def _words(hit: Hit, documents: Mapping[str, Document]) -> int:
    text = documents[hit.doc_id].text
    return len((text if hit.span is None else text[slice(*hit.span)]).split())
