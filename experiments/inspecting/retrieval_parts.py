"""One retrieval as a table: hits with their lanes, gold marked, what was dropped, what k had no room for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text

from arena.report.figures import UNDEFINED
from arena.report.question import CellPage, QuestionPage, figure_text, gold_beyond, lanes_of, request_text
from arena.report.text import Part, Rows
from arena.types import Document, Hit, Retrieval
from experiments.inspecting.answers import line_text

_QUERY_CHARS, _TITLE_CHARS = 200, 44


def retrieval_parts(
    page: QuestionPage, cell: CellPage, number: int, retrieval: Retrieval, documents: Mapping[str, Document]
) -> Iterator[Part]:
    """The request, the hits with those that were dropped, and where evidence stands beyond them."""
    of = len(cell.record.retrievals)
    query = retrieval.request.query
    asked = "the question" if query == page.question.text else f'"{line_text(query, _QUERY_CHARS)}"'
    yield Text(f"\nretrieval {number} of {of}: ", style="bold").append(f"{asked}; {request_text(retrieval.request)}")
    if retrieval.hits or retrieval.dropped:
        yield _hits(page, cell, retrieval, documents)
    if not retrieval.hits:
        yield "nothing was handed on"
    if retrieval.beyond:
        yield _beyond(page, retrieval)


def _hits(page: QuestionPage, cell: CellPage, retrieval: Retrieval, documents: Mapping[str, Document]) -> Rows:
    every = (*retrieval.hits, *retrieval.dropped)
    lanes = lanes_of(name for hit in every for name in hit.lanes)
    rows = [
        (
            str(hit.rank),
            _title(hit, documents),
            _marks(page, cell, hit, dropped=place >= len(retrieval.hits)),
            figure_text(hit.score),
            *_lanes(hit, lanes),
        )
        for place, hit in enumerate(every)
    ]
    return Rows(("#", "document", "marks", "score", *lanes), tuple(rows), 3)


def _title(hit: Hit, documents: Mapping[str, Document]) -> str:
    named = documents.get(hit.doc_id)
    span = f" [{hit.span[0]}:{hit.span[1]}]" if hit.span else ""
    return f"{line_text(named.title if named else 'not known', _TITLE_CHARS)} ({line_text(hit.doc_id, 80)}){span}"


def _marks(page: QuestionPage, cell: CellPage, hit: Hit, *, dropped: bool) -> str:
    mark = page.mark(hit.doc_id, cell)
    label = mark.gold.label if mark.gold else ""
    named = {label: bool(label), "used": mark.used, "cited": mark.cited, "dropped": dropped}
    return ", ".join(name for name, holds in named.items() if holds)


def _lanes(hit: Hit, lanes: Sequence[str]) -> Iterator[str]:
    """Rank and score in each lane, as in `3: 0.457`."""
    for name in lanes:
        placed = hit.lanes.get(name)
        yield f"{placed.rank}: {figure_text(placed.score)}" if placed else UNDEFINED


def _beyond(page: QuestionPage, retrieval: Retrieval) -> str:
    found = gold_beyond(retrieval.beyond, page.gold_documents)
    gold = ", ".join(f"{one.label} {place} below" for place, one in found) or "no gold"
    return f"{len(retrieval.beyond):,} further candidates beyond k: {gold}"
