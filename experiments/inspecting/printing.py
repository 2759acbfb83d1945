"""One question as paragraphs and tables for a terminal of any width, or a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text

from arena.report.figures import UNDEFINED
from arena.report.question import CellPage, QuestionPage, visible_text
from arena.report.text import Part, Rows
from arena.types import Answer, Cell, Document
from experiments.inspecting.answers import answer_text, cut_text
from experiments.inspecting.cell_parts import cell_parts
from experiments.inspecting.cells import cell_title

PASSAGE_CHARS = 600
"""Length to which passages are cut; `--json` has them whole."""

_ANSWER_CHARS = 48
_NOTHING = Answer(None, abstained=False)


def page_parts(page: QuestionPage, cells: Sequence[Cell], documents: Mapping[str, Document]) -> list[Part]:
    """The question, its cells at a glance, each of them, and the passages behind them."""
    parts: list[Part] = [*_asked(page)]
    titles = {cell.key: cell_title(cell, cells) for cell in cells}
    if len(page.cells) > 1:
        parts.append(_glance(page, titles))
    for cell in page.cells:
        parts += cell_parts(page, cell, titles[cell.record.cell.key], documents)
    there = {cell.record.cell.key for cell in page.cells}
    if missing := [title for key, title in titles.items() if key not in there]:
        parts.append(Text(f"\nNo record yet in {', '.join(missing)}.", style="yellow"))
    return [*parts, *_passages(page, documents)]


def _asked(page: QuestionPage) -> Iterator[Part]:
    question, gold = page.question, page.gold
    hops = [] if question.hops is None else [f"{question.hops} hop{'s' * (question.hops != 1)}"]
    facts = [question.question_id, question.kind, *hops, *filter(None, (question.hop_shape, question.split))]
    yield Text(visible_text(question.text), style="bold")
    yield Text(visible_text(", ".join(facts)), style="dim")
    right = " or ".join(gold.answers) or (
        "none is given" if gold.answerable else "nobody can answer; right is to abstain"
    )
    yield Text("right: ").append(visible_text(right), style="green")
    for one in page.gold_documents:
        yield Text(f"{one.label}: ", style="green").append(visible_text(f"{one.title or 'not known'} ({one.doc_id})"))


def _glance(page: QuestionPage, titles: Mapping[str, str]) -> Rows:
    rows = [
        (
            titles[cell.record.cell.key],
            cell.finding.failure,
            answer_text(cell, _ANSWER_CHARS),
            _tokens(cell),
            f"{cell.usage.latency_seconds:.2f}",
        )
        for cell in page.cells
    ]
    return Rows(("cell", "came to", "answer", "tokens", "seconds"), tuple(rows), 3)


def _tokens(cell: CellPage) -> str:
    spent = cell.usage.account.whole
    known = (spent.input_tokens.value, spent.output_tokens.value)
    return UNDEFINED if None in known else f"{sum(one or 0 for one in known):,.0f}"


def _passages(page: QuestionPage, documents: Mapping[str, Document]) -> Iterator[Part]:
    """What gold names and what any answer was written from, each once."""
    names = dict.fromkeys(one.doc_id for one in page.gold_documents)
    names |= dict.fromkeys(used for cell in page.cells for used in (cell.record.answer or _NOTHING).used_ids)
    shown = [documents[name] for name in names if name in documents]
    if shown:
        yield Text(f"\nPassages ({len(shown)}, of gold and of those used)", style="bold")
    for document in shown:
        yield Text(visible_text(f"{document.title} ({document.doc_id})"), style="bold dim")
        yield visible_text(cut_text(document.text, PASSAGE_CHARS))
