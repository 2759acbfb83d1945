"""What one cell made of a question, as paragraphs and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text

from arena.report.figures import UNDEFINED, usd_text
from arena.report.question import CellPage, QuestionPage, RoleUse, changed_text, figure_text, visible_text
from arena.report.text import Part, Rows
from arena.types import Cell, Decision, Document, Verdict
from experiments.inspecting.answers import answer_text, line_text
from experiments.inspecting.retrieval_parts import retrieval_parts

_ANSWER_CHARS = 2_000
_NAME_CHARS = 60


def cell_parts(page: QuestionPage, cell: CellPage, title: str, documents: Mapping[str, Document]) -> Iterator[Part]:
    """Answer, what it came to, evidence, decisions, calls, verdicts and scores."""
    yield Text(f"\n{title}", style="bold underline")
    yield Text(f"{cell.record.cell.key}  {_setting(cell.record.cell)}", style="dim")
    yield Text("answer: ").append(answer_text(cell, _ANSWER_CHARS), style="bold")
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
            figure_text(one.score),
            f"{figure_text(one.threshold)}{f' ({one.origin})' if one.origin else ''}",
            one.tier or "",
            changed_text(one),
            ", ".join(f"{name} {figure_text(value)}" for name, value in one.parts.items()),
        )
        for number, one in enumerate(decisions, start=1)
    ]
    headings = ("#", "decision", "about", "score", "threshold", "tier", "changed", "made of")
    return _without_empty(Rows(headings, tuple(rows), 3))


def _subject(decision: Decision, documents: Mapping[str, Document]) -> str:
    subject = decision.subject or ""
    named = documents.get(subject)
    return line_text(f"{named.title} ({subject})" if named else subject, _NAME_CHARS)


def _calls(roles: Sequence[RoleUse]) -> Rows:
    rows = [
        (
            visible_text(use.role),
            visible_text(", ".join(use.models)),
            str(use.spent.calls),
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
