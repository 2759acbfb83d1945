"""One question on a terminal of any width, or in a pipe: for each cell, paragraphs and tables.

A retrieval is a table: hits with their lanes, gold marked, what was dropped, what k had no room for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text

from arena.errors import UnknownNameError
from arena.report.figures import UNDEFINED, usd_text
from arena.report.names import name_of
from arena.report.question import (
    CellPage,
    QuestionPage,
    RoleUse,
    changed_text,
    figure_text,
    gold_beyond,
    lanes_of,
    request_text,
    use_of,
    visible_text,
)
from arena.report.text import Part, Rows
from arena.types import FIT, Answer, Cell, Decision, Document, Hit, Retrieval, Verdict


def answer_text(cell: CellPage, chars: int) -> str:
    """The answer, or why there is none, in one line of about `chars` characters."""
    failure, answer = cell.record.failure, cell.record.answer
    if failure is not None:
        said = f"failed: {failure.type}: {failure.message}"
    elif answer is None or answer.text is None:
        said = "(writes no answer by design)"
    else:
        said = f"{answer.text or '(empty)'}{' (abstained)' if answer.abstained else ''}"
    return line_text(said, chars)


def line_text(text: str, chars: int) -> str:
    """`text` in one line, cut to `chars` characters."""
    line = visible_text(" ".join(text.split()))
    return line if len(line) <= chars else f"{line[: chars - 1]}\N{HORIZONTAL ELLIPSIS}"


def cut_text(text: str, chars: int) -> str:
    """`text`, or its first `chars` characters and how many are left."""
    return text if len(text) <= chars else f"{text[:chars]} [{len(text) - chars:,} more characters: --json]"


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
    use = use_of(hit.doc_id, page.gold_documents, cell.record.answer)
    label = use.gold.label if use.gold else ""
    named = {label: bool(label), "used": use.used, "cited": use.cited, "dropped": dropped}
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


_WHOLE_ANSWER_CHARS = 2_000
_NAME_CHARS = 60


def cell_parts(page: QuestionPage, cell: CellPage, title: str, documents: Mapping[str, Document]) -> Iterator[Part]:
    """Answer, what it came to, evidence, decisions, calls, verdicts and scores."""
    yield Text(f"\n{title}", style="bold underline")
    yield Text(f"{cell.record.cell.key}  {_setting(cell.record.cell)}", style="dim")
    yield Text("answer: ").append(answer_text(cell, _WHOLE_ANSWER_CHARS), style="bold")
    found = cell.failure_class
    style = "green" if found.stage == "right" else "red" if found.is_failure else "yellow"
    yield Text("came to: ").append(found.name, style=style).append(f", {found.meaning}. {found.rule}")
    if missing := _missing(cell, documents):
        yield Text(f"first missing: {missing}")
    yield Text(_facts(cell))
    for number, retrieval in enumerate(cell.record.retrievals, start=1):
        yield from retrieval_parts(page, cell, number, retrieval, documents)
    if cell.record.decisions:
        yield Text("\ndecisions", style="bold")
        yield _decisions(cell.record.decisions, documents)
    if cell.roles:
        yield Text("\nmodel calls", style="bold")
        yield _calls(cell.roles)
    yield from _verdicts(cell.verdicts)
    yield from _scores(cell)


def _setting(cell: Cell) -> str:
    parts = [cell.llm or "no model", *(f"{name} {value}" for name, value in cell.params.items())]
    return visible_text(", ".join(parts))


def _missing(cell: CellPage, documents: Mapping[str, Document]) -> str | None:
    doc_id, hop = cell.finding.doc_id, cell.finding.hop
    if doc_id is None:
        return None
    named = documents.get(doc_id)
    return visible_text(f"{f'hop {hop}, ' if hop else ''}{named.title if named else 'not known'} ({doc_id})")


def _facts(cell: CellPage) -> str:
    usage, spent = cell.usage, cell.usage.account.whole
    marks = [name for name in ("warm_up", "replayed", "truncated") if getattr(usage, name)]
    latency = f"{figure_text(usage.latency_seconds)} s{'' if usage.measured else ' (not measured)'}"
    parts = [
        f"latency {latency}",
        f"wall {figure_text(cell.record.wall_seconds)} s",
        f"retrieval {figure_text(cell.retrieval_seconds)} s",
        f"tokens {_count(spent.input_tokens.value)} in, {_count(spent.output_tokens.value)} out",
        f"USD {usd_text(spent.usd.value)}",
        *(name.replace("_", "-") for name in marks),
    ]
    return "; ".join(parts)


def _decisions(decisions: Sequence[Decision], documents: Mapping[str, Document]) -> Rows:
    rows = [
        (
            str(number),
            line_text(f"{one.node}: {one.choice}", _NAME_CHARS),
            _subject(one, documents),
            *_score(one),
            one.tier or "",
            changed_text(one),
            _made_of(one),
        )
        for number, one in enumerate(decisions, start=1)
    ]
    headings = ("#", "decision", "about", "score", "threshold", "tier", "changed", "made of")
    return _without_empty(Rows(headings, tuple(rows), 3))


def _score(decision: Decision) -> tuple[str, str]:
    """Score and threshold; of a prompt that was fitted to the window, which has passages for both, neither."""
    if decision.node == FIT:
        return UNDEFINED, UNDEFINED
    origin = f" ({decision.origin})" if decision.origin else ""
    return figure_text(decision.score), f"{figure_text(decision.threshold)}{origin}"


def _made_of(decision: Decision) -> str:
    if decision.node == FIT:
        return f"{decision.score or 0:.0f} of {decision.threshold or 0:.0f} passages shown"
    return ", ".join(f"{name} {figure_text(value)}" for name, value in decision.parts.items())


def _subject(decision: Decision, documents: Mapping[str, Document]) -> str:
    subject = decision.subject or ""
    named = documents.get(subject)
    return line_text(f"{named.title} ({subject})" if named else subject, _NAME_CHARS)


def _calls(roles: Sequence[RoleUse]) -> Rows:
    rows = [
        (
            visible_text(use.role),
            visible_text(", ".join(use.models)),
            _count(use.calls),
            _count(use.spent.input_tokens.value),
            _count(use.spent.output_tokens.value),
            figure_text(use.account.service_seconds),
            figure_text(use.waiting_seconds),
            usd_text(use.spent.usd.value),
            _call_notes(use),
        )
        for use in roles
    ]
    headings = ("role", "model", "calls", "in", "out", "seconds", "waited", "USD", "notes")
    return _without_empty(Rows(headings, tuple(rows), 2))


def _call_notes(use: RoleUse) -> str:
    counts = {
        "retried": use.retries,
        "repaired": use.account.repairs,
        "failed": use.account.failed_calls,
        "cut off": use.truncated,
        "replayed": use.account.replayed.calls,
    }
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)


def _verdicts(verdicts: Sequence[Verdict]) -> Iterator[Part]:
    for one in verdicts:
        value = figure_text(one.score.value) if one.score.value is not None else one.score.reason
        again = f", time {one.repeat + 1}" if one.repeat else ""
        yield Text(f"\n{one.metric}: {value}", style="bold").append(
            f" by {visible_text(one.judge)}{again}", style="dim"
        )
        for part in one.parts:
            said = figure_text(part.value) if part.value is not None else "not judged"
            yield f"{said}  {line_text(part.name, 400)}{f': {line_text(part.reason, 400)}' if part.reason else ''}"


def _scores(cell: CellPage) -> Iterator[Part]:
    yield Text("\nscores", style="bold")
    valued = [f"{one.metric} {figure_text(one.value)}" for one in cell.scores if one.value is not None]
    reasons: dict[str, list[str]] = {}
    for one in cell.scores:
        if one.value is None:
            reasons.setdefault(one.reason or UNDEFINED, []).append(one.metric)
    if valued:
        yield "; ".join(valued)
    for reason, metrics in reasons.items():
        yield f"{reason}: {', '.join(metrics)}"


def _without_empty(table: Rows) -> Rows:
    """Without the columns of figures that have nothing in any row."""
    kept = [
        place
        for place in range(len(table.headings))
        if place < table.n_names or any(row[place] not in ("", UNDEFINED) for row in table.rows)
    ]
    rows = tuple(tuple(row[place] for place in kept) for row in table.rows)
    return Rows(tuple(table.headings[place] for place in kept), rows, table.n_names)


def _count(count: float | None) -> str:
    return "unknown" if count is None else f"{count:,.0f}"


def chosen_cells(cells: Sequence[Cell], names: Sequence[str]) -> list[Cell]:
    """The cells that any of `names` names, in their order; all of them where there are no names.

    A name is a cell's key, or a strategy, or a strategy and a mode: `corrective`, `corrective/hybrid`.

    Raises:
        UnknownNameError: a name names none.
    """
    for name in names:
        if not any(_is_named(cell, name) for cell in cells):
            raise UnknownNameError("cell", name, _known_names(cells))
    return [cell for cell in cells if not names or any(_is_named(cell, name) for name in names)]


def _is_named(cell: Cell, name: str) -> bool:
    return name in (cell.key, cell.strategy, f"{cell.strategy}/{cell.retrieval_mode}")


def _known_names(cells: Sequence[Cell]) -> set[str]:
    """Strategies, strategies with a mode, and keys where several cells share both."""
    counts = Counter(f"{cell.strategy}/{cell.retrieval_mode}" for cell in cells)
    shared = {cell.key for cell in cells if counts[f"{cell.strategy}/{cell.retrieval_mode}"] > 1}
    return {cell.strategy for cell in cells} | counts.keys() | shared


PASSAGE_CHARS = 600
"""Length to which passages are cut; `--json` has them whole."""

_ANSWER_CHARS = 48
_NOTHING = Answer(None, abstained=False)


def page_parts(page: QuestionPage, cells: Sequence[Cell], documents: Mapping[str, Document]) -> list[Part]:
    """The question, its cells at a glance, each of them, and the passages behind them."""
    parts: list[Part] = [*_asked(page)]
    titles = {cell.key: name_of(cell, cells) for cell in cells}
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
