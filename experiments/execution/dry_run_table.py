"""A dry run as a table and as JSON, with where each figure comes from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from arena.leaderboard.cells import price_source
from arena.llm.providers import is_fake
from arena.report.figures import count_text, usd_text
from arena.report.names import name_of, names_of
from arena.types import sum_known
from experiments.execution.budget import sample_size_note
from experiments.execution.dry_run import DryRun
from experiments.execution.expectation import TOKENS_PER_WORD, Expectation, Figures, ModelWork

_PROBE = "probe"
_NO_MODEL = "no model"
_UNASKED = "unknown"


def dry_run_fields(dry: DryRun) -> dict[str, Any]:
    """As plain JSON values: expected calls, tokens and dollars, None = unknown."""
    return {
        "prices": price_source(dry.prices).model_dump(mode="json"),
        "tokens_per_word": TOKENS_PER_WORD,
        "context_tokens": dry.window,
        "cells": [
            {
                "strategy": one.cell.strategy,
                "retrieval_mode": one.cell.retrieval_mode,
                "llm": one.cell.llm,
                "cell": one.cell.key,
                "params": dict(one.cell.params),
                "n_questions": one.n_questions,
                "source": _source(one),
                "run_id": one.origin,
                "n_observed": one.n_observed,
                "n_failed": len(one.failures),
                "n_fitted": one.n_fitted,
                **one.figures._asdict(),
            }
            for one in dry.cells
        ],
        "judging": [
            {
                "metric": one.metric,
                "llm": one.by_cell[0].cell.llm if one.by_cell else None,
                "n_verdicts": one.n_questions,
                "n_observed": one.n_observed,
                **one.figures._asdict(),
            }
            for one in dry.judging
        ],
        "total": {**dry.figures._asdict(), "hours": dry.hours},
        "work": [
            {
                "llm": one.model,
                "calls": one.calls,
                "at_once": one.at_once,
                "seconds_per_call": one.seconds_per_call.seconds if one.seconds_per_call else None,
                "measured_in": one.seconds_per_call.run_id if one.seconds_per_call else None,
                "hours": one.hours,
            }
            for one in dry.work
        ],
    }


def dry_run_table(dry: DryRun) -> Table:
    """A line per cell, and the total."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, title="expected", title_justify="left")
    headings, names = names_of([one.cell for one in dry.cells])
    for heading in headings:
        table.add_column(heading)
    for heading in ("questions", "calls", "input", "output", "USD", "USD, full replies"):
        table.add_column(heading, justify="right")
    table.add_column("from")
    for one, named in zip(dry.cells, names, strict=True):
        table.add_row(*map(Text, (*named, f"{one.n_questions:,}", *_texts(one.figures), _from(one))))
    blank = [""] * (len(headings) - 1)
    for number, judged in enumerate(dry.judging):
        if number == 0:
            table.add_section()
        origin = f"{_PROBE}, n = {judged.n_observed}"
        table.add_row(f"judge: {judged.metric}", *blank, "", *_texts(judged.figures), origin)
    table.add_section()
    table.add_row("all", *blank, f"{sum(one.n_questions for one in dry.cells):,}", *_texts(dry.figures), "")
    return table


def dry_run_notes(dry: DryRun) -> Iterator[str]:
    """How far the figures can be trusted, and whose price is missing."""
    if any(_source(one) == _PROBE for one in dry.cells):
        yield (
            "probe: a few questions through the real graphs and prompts with the fake model, on passages found by "
            "shared words: nothing is embedded. Its replies are not the model's, so calls of a controller and output "
            f"are guesses; tokens are words x {TOKENS_PER_WORD}. full replies: had every reply been llm.max_tokens "
            "long."
        )
    for one in dry.cells:
        if one.failures:
            yield (
                f"{name_of(one.cell)}: {len(one.failures)} of {one.n_observed} questions of "
                f"the probe failed, so its figures are too low: {one.failures[0]}"
            )
    yield from _on_window(dry)
    if any(one.origin for one in dry.cells):
        yield "run: the mean of that finished run of the same cell on the same data, times the questions."
    if dry.judging:
        yield (
            "judge: RAGAS' own prompts about n answers, asked of the fake model; those of the probe are shorter than a "
            "model's, and each statement more in an answer makes a verdict longer."
        )
    yield f"Prices: {dry.prices.source}, of {dry.prices.as_of.isoformat()}, and {len(dry.prices.own)} of your own."
    every = (*dry.guessed, *(one for judged in dry.judging for one in judged.by_cell))
    if own := [name_of(one.cell) for one in dry.cells if one not in dry.guessed]:
        yield f"{', '.join(own)}: what systems of your own use and cost, and a judge of their answers, is in no sum."
    unpriced = sorted({repr(one.cell.llm) for one in every if one.account.unpriced_calls})
    if unpriced:
        yield f"No price is known for {', '.join(unpriced)}: give one under `prices` in the config."
    elif dry.figures.usd is None:
        yield "USD is unknown where a model is paid by the hour and none of its calls was measured yet."
    yield from map(_hours_note, dry.work)
    yield from _over_budget(dry)
    yield f"{sample_size_note(one.n_questions for one in dry.cells)}."
    yield "Nothing was spent, and no run folder was made."


def _on_window(dry: DryRun) -> Iterator[str]:
    probed = [one for one in dry.cells if one.n_fitted is not None and one.cell.llm and not is_fake(one.cell.llm)]
    fitted, of = sum(one.n_fitted or 0 for one in probed), sum(one.n_observed for one in probed)
    if fitted:
        yield (
            f"{fitted} of {of} questions of the probe have more evidence than {dry.window:,} tokens hold (by estimate, "
            "at three bytes a token): the rest is left out, as the run would. Chunk the documents, lower retrieval.k, "
            "or raise llm.context_tokens if the model reads more."
        )
    elif probed and dry.window is None:
        yield (
            "The model's window is not known before it is opened, and nothing was left out here: name it in "
            "llm.context_tokens to see what would be."
        )


def _hours_text(hours: float) -> str:
    """Two digits that count; under a hundredth of an hour it is next to nothing."""
    return "0" if not hours else "<0.01" if hours < 0.01 else f"{hours:,.2g}" if hours < 10 else f"{hours:,.0f}"


def _hours_note(work: ModelWork) -> str:
    """How long the calls take, and where the pace comes from."""
    what = f"{work.calls:,.0f} calls of {work.model!r}, {work.at_once} at once"
    if work.hours is None:
        return (
            f"hours: unknown for {what}: no finished run in the runs folder has asked it. At 1 s a call they would be "
            f"{_hours_text(work.hours_at(1.0))}; indexing and retrieval come on top."
        )
    speed = work.seconds_per_call
    pace = f", {speed.seconds:.3g} s a call in run {speed.run_id}, n = {speed.n_calls}" if speed else ""
    return f"hours: {_hours_text(work.hours)} for {what}{pace}; indexing and retrieval come on top."


def _over_budget(dry: DryRun) -> Iterator[str]:
    most, expected = dry.budget, dry.figures
    tokens = sum_known([expected.input_tokens, expected.output_tokens])
    if most.max_usd is not None and expected.usd is not None and expected.usd > most.max_usd:
        yield f"This is more than budget.max_usd {most.max_usd:g}: the run would stop before its end."
    if most.max_tokens is not None and tokens is not None and tokens > most.max_tokens:
        yield f"This is more than budget.max_tokens {most.max_tokens:,}: the run would stop before its end."


def _source(one: Expectation) -> str:
    if not one.is_guessed:
        return _UNASKED
    if one.cell.llm is None:
        return _NO_MODEL
    return "run" if one.origin else _PROBE


def _from(one: Expectation) -> str:
    source = _source(one)
    return (
        source
        if source in (_NO_MODEL, _UNASKED)
        else f"{source} {one.origin or ''}, n = {one.n_observed}".replace(" ,", ",")
    )


def _texts(of: Figures) -> tuple[str, ...]:
    counts = (of.calls, of.input_tokens, of.output_tokens)
    money = (of.usd, of.usd_with_full_replies)
    return (*map(count_text, counts), *(usd_text(usd) for usd in money))
