"""Validity warnings: what a reader must know before any figure of a run is believed. They are data of the leaderboard.

Everything that shows figures shows these, and nothing else decides what is worth a warning. A new one is a function of
`Facts` in `_FINDERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from arena.leaderboard.cells import CellSummary
from arena.leaderboard.guards import ENOUGH_QUESTIONS
from arena.leaderboard.metrics import COVERAGE_FLOOR
from arena.leaderboard.schema import Row
from arena.llm.providers import is_fake
from arena.scoring import CellScores
from arena.statistics.significance import ASSUMED_DISCORDANCE, detectable_difference, discordance_sd
from arena.types import FIT, FOREIGN_MODES, GOLD_MODE, NO_RETRIEVAL_MODE, grouped

LEAST_TO_DIFFER = 6
"""Questions from which on a paired test at 5 % can show any difference: of 5 the least two-sided p is 2 / 2^5."""

_NAMED = 3
_NO_INDEX = (GOLD_MODE, NO_RETRIEVAL_MODE, *FOREIGN_MODES)
_MESSAGE_CHARS = 200


class ValidityWarning(Row):
    """One thing that limits what a run, or some of its cells, may be taken to say."""

    code: str = Field(description="What kind it is, the same for every run.")
    message: str = Field(description="The statement, without the names of the cells and without a full stop.")
    cells: list[str] = Field(default_factory=list, description="Keys of the cells concerned. Empty: the whole run.")
    figures: dict[str, float] = Field(default_factory=dict, description="What the statement rests on.")


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """An index that was searched. `limit_tokens`: what its model reads of a passage; None = not known.

    `chunk_tokens`: of its chunks, None = whole documents. `fits_tokens`: the longest chunks of which none is cut off.
    """

    corpus: str
    model: str
    passages: int
    truncated: int
    limit_tokens: int | None = None
    chunk_tokens: int | None = None
    fits_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What warnings are found in. `held`: questions of the dataset, None = not known. `scores`: of the cells."""

    cells: Sequence[CellSummary]
    held: int | None = None
    indexes: Sequence[IndexFacts] = ()
    scores: Sequence[CellScores] = ()


def find_warnings(facts: Facts) -> list[ValidityWarning]:
    """Every warning, what concerns the whole run first; the same facts give the same list."""
    return [one for find in _FINDERS for one in find(facts)]


def sentences(warnings: Iterable[ValidityWarning], names: Mapping[str, str]) -> list[str]:
    """A sentence each; cells are named where not all of `names` (cell key -> its name) are concerned."""
    return [_sentence(one, names) for one in warnings]


def concerning(warnings: Iterable[ValidityWarning], cell: str) -> list[ValidityWarning]:
    """Those of one cell, with those of the whole run."""
    return [one for one in warnings if not one.cells or cell in one.cells]


def index_facts(manifest: Mapping[str, Any]) -> list[IndexFacts]:
    """The indexes of a run, as its manifest tells of them; one of an older run may not say all."""
    config = manifest.get("config") or {}
    embedder = ((manifest.get("identity") or {}).get("index") or {}).get("embedder") or {}
    chunk_tokens = (config.get("chunking") or {}).get("tokens")
    corpora = (
        (manifest.get("index"), config.get("dataset")),
        (manifest.get("second_index"), (config.get("external") or {}).get("dataset")),
    )
    return [
        index_of(index, str(corpus), embedder, chunk_tokens)
        for index, corpus in corpora
        if index and "truncated_passages" in index
    ]


def index_of(
    counted: Mapping[str, Any], corpus: str, embedder: Mapping[str, Any], chunk_tokens: int | None
) -> IndexFacts:
    """From what was counted in an index, and the identity of its embedder."""
    return IndexFacts(
        corpus,
        str(embedder.get("model", "its model")),
        counted["passages"],
        counted["truncated_passages"],
        embedder.get("max_length_tokens"),
        chunk_tokens,
        counted.get("fits_tokens"),
    )


def truncation_statement(index: IndexFacts) -> str:
    """How many passages are cut off, where, and what would fit."""
    limit = "" if index.limit_tokens is None else f"the {index.limit_tokens:,} tokens that "
    return (
        f"{index.truncated:,} of {index.passages:,} passages of {index.corpus} are longer than {limit}{index.model} "
        f"reads, and the dense lane does not see their ends: {_what_fits(index)}"
    )


def counted(count: int, noun: str) -> str:
    """As in `1 cell` and `1,200 cells`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def size_statement(asked: int) -> str:
    """What so many questions can show at best, before it is known how far cells disagree."""
    asking = f"with {counted(asked, 'question')}"
    if asked < LEAST_TO_DIFFER:
        return f"{asking} no difference between two cells, however large, can be shown at the 5% level"
    least = detectable_difference(asked, discordance_sd(ASSUMED_DISCORDANCE))
    if least >= 1.0:
        return f"{asking} no difference between two cells is likely to be shown"
    return (
        f"{asking} two cells that disagree on {ASSUMED_DISCORDANCE:.0%} of them are told apart 4 times "
        f"in 5 only if they truly differ by {least:.2f} or more"
    )


def _fake_readers(facts: Facts) -> Iterator[ValidityWarning]:
    cells = [cell.cell for cell in facts.cells if cell.llm and is_fake(cell.llm)]
    if cells:
        yield ValidityWarning(
            code="fake_reader",
            message="a fake model wrote the answers: their figures say nothing about a language model",
            cells=cells,
        )


def _few_questions(facts: Facts) -> Iterator[ValidityWarning]:
    sizes = grouped((cell.n_questions, cell.cell) for cell in facts.cells if cell.n_questions < ENOUGH_QUESTIONS)
    for asked, cells in sizes.items():
        of = f" of {facts.held:,}" if facts.held is not None and facts.held > asked else ""
        yield ValidityWarning(
            code="few_questions",
            message=f"only {asked:,}{of} questions were asked: {size_statement(asked)}",
            cells=cells,
            figures={"asked": asked, **({} if facts.held is None else {"held": facts.held})},
        )


def _truncated_passages(facts: Facts) -> Iterator[ValidityWarning]:
    retrieving = [one.cell for one in facts.cells if one.retrieval_mode not in _NO_INDEX]
    for index in facts.indexes:
        if not index.truncated or not retrieving:
            continue
        names = ("truncated", "passages", "limit_tokens", "chunk_tokens", "fits_tokens")
        figures = {name: getattr(index, name) for name in names}
        yield ValidityWarning(
            code="truncated_passages",
            message=truncation_statement(index),
            cells=retrieving,
            figures={name: value for name, value in figures.items() if value is not None},
        )


def _what_fits(index: IndexFacts) -> str:
    already = ""
    if index.chunk_tokens is not None:
        already = (
            f"chunks of {index.chunk_tokens:,} tokens are too long, because title and framing tokens are read with "
            "each; "
        )
    if index.fits_tokens is not None:
        return f"{already}chunk at most {index.fits_tokens:,} tokens (--set chunking.tokens={index.fits_tokens})"
    if index.limit_tokens is not None:
        return f"{already}chunk at most {index.limit_tokens:,} tokens less those of the longest title"
    return f"{already}chunk them (--set chunking.tokens=N)"


def _guards(facts: Facts) -> Iterator[ValidityWarning]:
    """What is no result, each reason once with all cells that it concerns."""
    found = grouped(((one.guard, one.metric, one.message), cell.cell) for cell in facts.cells for one in cell.guards)
    for (guard, metric, message), cells in found.items():
        what = f"{metric} is no result" if metric else "no result"
        yield ValidityWarning(
            code=guard, message=f"{what}: {message}", cells=cells, figures={"cells": float(len(cells))}
        )


def _uncalibrated(facts: Facts) -> Iterator[ValidityWarning]:
    """Default thresholds to which the probabilities of a general model were held, cells with the same ones together."""
    found = grouped(
        (tuple((node, tuple(sorted(values))) for node, values in nodes.items()), cell.cell.key)
        for cell in facts.scores
        if (nodes := cell.decisions.uncalibrated)
    )
    for nodes_of, cells in found.items():
        listed = ", ".join(f"{node} {' and '.join(f'{one:g}' for one in values)}" for node, values in nodes_of)
        yield ValidityWarning(
            code="uncalibrated_thresholds",
            message=f"thresholds not calibrated for this judge ({listed}): `arena calibrate` chooses them on a "
            "development split",
            cells=cells,
            figures={f"{node}/{number}": one for node, values in nodes_of for number, one in enumerate(values)},
        )


def _no_corrective_action(facts: Facts) -> Iterator[ValidityWarning]:
    cells = [one.cell for one in facts.cells if one.params.get("external") == "off"]
    if cells:
        yield ValidityWarning(
            code="no_corrective_action",
            message="there is no second source (`external: off`), so a retrieval judged wrong is thrown away and "
            "nothing is searched instead",
            cells=cells,
        )


def _low_coverage(facts: Facts) -> Iterator[ValidityWarning]:
    silent = _silent(facts)  # it is said of them that nothing is known, and why
    coverages = grouped(
        (metric, (cell.cell, summary.coverage))
        for cell in facts.cells
        for metric, summary in cell.metrics.items()
        if summary.coverage is not None and summary.mean is None and (summary.coverage > 0 or cell.cell not in silent)
    )
    for known, metrics in grouped((tuple(known), metric) for metric, known in coverages.items()).items():
        named = ", ".join(metrics[:_NAMED]) + (f" and {len(metrics) - _NAMED} more" if len(metrics) > _NAMED else "")
        least = min(coverage for _, coverage in known)
        yield ValidityWarning(
            code="low_coverage",
            message=f"the mean of {named} is withheld: only {least:.1%} of the scores are known, and "
            f"{COVERAGE_FLOOR:.0%} are needed",
            cells=[cell for cell, _ in known],
            figures={"coverage": least},
        )


def _cut_replies(facts: Facts) -> Iterator[ValidityWarning]:
    cut = [(one.cell, one.n_truncated) for one in facts.cells if one.n_truncated]
    yield from _of_questions("cut_replies", cut, "had a reply cut off at max_tokens: raise llm.max_tokens")


def _failed(facts: Facts) -> Iterator[ValidityWarning]:
    """Each type of failure once, with what the first of it said; cells whose scores are not kept say how many."""
    kinds = grouped((kind, (cell.cell.key, one)) for cell in facts.scores for kind, one in cell.failed.items())
    for kind, failed in kinds.items():
        said = " ".join(failed[0][1].message.split())
        said = said if len(said) <= _MESSAGE_CHARS else f"{said[: _MESSAGE_CHARS - 3]}..."
        by_cell = [(cell, one.questions) for cell, one in failed]
        yield from _of_questions("failed_questions", by_cell, f"failed with {kind}, the first with: {said}")
    told = {cell.cell.key for cell in facts.scores if cell.failed}
    untold = [(one.cell, one.n_failed) for one in facts.cells if one.n_failed and one.cell not in told]
    yield from _of_questions("failed_questions", untold, "failed")


def _fitted(facts: Facts) -> Iterator[ValidityWarning]:
    fitted = [(one.cell.key, node.questions) for one in facts.scores if (node := one.decisions.controllers.get(FIT))]
    happened = (
        "were longer than the model's window, and evidence was left out of them: chunk the documents "
        "(--set chunking.tokens=N), lower retrieval.k, or use a model with more room"
    )
    yield from _of_questions("fitted_prompts", fitted, happened, before="prompts of ")


def _of_questions(
    code: str, by_cell: Sequence[tuple[str, int]], happened: str, *, before: str = ""
) -> Iterator[ValidityWarning]:
    """What happened to so many questions of each cell; nothing where there is no cell."""
    if by_cell:
        total = sum(questions for _, questions in by_cell)
        message = f"{before}{counted(total, 'question')} {happened}"
        yield ValidityWarning(
            code=code, message=message, cells=[cell for cell, _ in by_cell], figures={"questions": total}
        )


def _silent(facts: Facts) -> Mapping[str, int]:
    """Cell key -> its completed questions of which it is not known what was retrieved."""
    found = {
        cell.cell.key: sum(one.outcome != "failed" and not one.tells_evidence for one in cell.usage.values())
        for cell in facts.scores
    }
    return {key: questions for key, questions in found.items() if questions}


def _unreported(facts: Facts) -> Iterator[ValidityWarning]:
    happened = "were answered by a system that did not report what it retrieved: their recall and precision are unknown"
    yield from _of_questions("unreported_evidence", list(_silent(facts).items()), happened)


def _unmapped(facts: Facts) -> Iterator[ValidityWarning]:
    """Documents that foreign systems name and the dataset does not hold, by id or by text."""
    for cell in facts.scores:
        if cell.unmapped:
            yield ValidityWarning(
                code="unmapped_documents",
                message=f"{cell.unmapped:,} of the {counted(cell.named, 'document')} that it names are not in the "
                "dataset by id or text, and count as no evidence",
                cells=[cell.cell.key],
                figures={"unmapped": cell.unmapped, "named": cell.named},
            )


def _dropped(facts: Facts) -> Iterator[ValidityWarning]:
    dropped = grouped((model, name) for cell in facts.scores for model, names in cell.dropped.items() for name in names)
    for model, names in dropped.items():
        message = f"model {model!r} refuses {', '.join(dict.fromkeys(names))}: it was asked without"
        yield ValidityWarning(code="dropped_parameters", message=message)


_FINDERS: tuple[Callable[[Facts], Iterable[ValidityWarning]], ...] = (
    _fake_readers,
    _few_questions,
    _truncated_passages,
    _guards,
    _uncalibrated,
    _no_corrective_action,
    _low_coverage,
    _cut_replies,
    _failed,
    _fitted,
    _unreported,
    _unmapped,
    _dropped,
)


def _sentence(one: ValidityWarning, named: Mapping[str, str]) -> str:
    if not one.cells or set(one.cells) >= set(named):
        return f"{one.message[0].upper()}{one.message[1:]}."
    names = [named.get(cell, cell) for cell in one.cells]
    if len(names) > _NAMED:
        return f"{len(names)} cells ({', '.join(names[:_NAMED])}, ...): {one.message}."
    return f"{', '.join(names)}: {one.message}."
