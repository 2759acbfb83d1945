"""What a user of RAGRouter-Bench should know about the questions that were read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arena.datasets.ragrouter.question import Ledger

_SHOWN = 3


def evidence_notes(ledger: Ledger, n_questions: int, musique: str | None) -> Iterator[str]:
    """Sentences about recovered and missing evidence. `musique`: what file it was sought in, None = in none."""
    if musique is not None:
        found = sum(ledger.by.values())
        yield (
            f"{found:,} of {n_questions:,} questions are in MuSiQue ({musique}): {ledger.by['id']:,} found by id, "
            f"{ledger.by['text']:,} by text; evidence of {ledger.recovered:,} came from there, and {ledger.aliased:,} "
            "gained aliases of their answers."
        )
        if found < n_questions:
            yield (
                f"The answers of the other {n_questions - found:,} are no spans and have no aliases: "
                "let a judge compare them, exact match says little."
            )
    else:
        yield "Answers may be sentences and have no aliases: let a judge compare them, exact match says little."
    if ledger.without_evidence:
        yield (
            f"{ledger.without_evidence:,} of {n_questions:,} questions have no supporting documents, so metrics of "
            f"retrieval and support are undefined on them: {'; '.join(_reasons(ledger, musique))}."
        )


def _reasons(ledger: Ledger, musique: str | None) -> Iterator[str]:
    for ids, reason in (
        (ledger.unknown, "name none"),
        (ledger.unreadable, "name evidence that is neither an id nor the text of a document"),
        (ledger.not_in_corpus, "need a paragraph of MuSiQue that no document is"),
    ):
        if ids:
            yield f"{len(ids):,} {reason} ({_some(ids)})"
    if musique is None and (ledger.unknown or ledger.unreadable):
        yield "for questions taken from MuSiQue, name its file, as in ragrouter:FOLDER:musique_ans_v1.0_dev.jsonl"


def _some(ids: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in ids[:_SHOWN]) + (", ..." if len(ids) > _SHOWN else "")
