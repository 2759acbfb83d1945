"""What the judges came to and how far they can be trusted; and who abstains where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arena.leaderboard.build import Leaderboard
from arena.leaderboard.judge_card import JudgeCard
from arena.leaderboard.validity import counted
from arena.llm.providers import is_fake
from arena.report.figures import UNDEFINED, Quotes, path_of
from arena.report.names import Mark
from arena.report.section import Block, Entry, Grid, Section, cell_grid, lines

_LEGEND = (
    "answers with a verdict, of those due (an abstention is not); the mean over them; sd = of repeated verdicts on one "
    "answer; split = two ratings of one answer differ; EM, people = share of answers that judge and exact match, or "
    "people, call the same, Cohen's kappa, and how many people labelled. Their tokens and money are in no cell's."
)


def judges(board: Leaderboard) -> Section | None:
    """A row per judge and metric, and a sentence on each weakness; None where nothing was judged."""
    if not board.judges:
        return None
    quotes = Quotes(board)
    headings = ("judge", "metric", "judged", "mean", "sd", "split", "EM", "people", "calls", "tokens", "USD")
    rows = tuple(_row(number, card, quotes) for number, card in enumerate(board.judges))
    grid = Grid(headings, rows, n_names=2)
    return Section("Judges", _LEGEND, (Block(grid=grid, notes=lines(judge_notes(board.judges))),))


def judge_notes(cards: Sequence[JudgeCard]) -> Iterator[str]:
    """A sentence on each reason to trust a judge less: on the judge itself once, on its metrics one by one."""
    for card in {one.judge: one for one in cards}.values():
        if is_fake(card.judge):
            yield f"judge {card.judge} compares words and is no judge; it stands in for one where none may be asked."
        elif card.same_family:
            yield f"judge {card.judge} judges its own kind ({', '.join(card.same_family)}), which judges prefer."
    for card in cards:
        yield from _metric_notes(card)


def _metric_notes(card: JudgeCard) -> Iterator[str]:
    who = f"judge {card.judge}, {card.metric}"
    if card.mean is None:
        partly = f", and {card.partly:,} in part" if card.partly else ""
        yield f"{who}: the mean is withheld: {card.judged:,} of {card.due:,} answers were judged{partly}."
    if card.echoed:
        times = counted(card.echoed, "verdict")
        yield f"{who}: repeats its prompt instead of judging in {times}; what it repeats counts as not judged."
    if card.constant is not None:
        yield f"{who}: gives {card.constant:g} to every answer: it tells nothing apart."
    for agreement in card.agreements:
        if agreement.kappa is not None and agreement.kappa <= 0:
            other = "people" if agreement.other == "human" else "exact match"
            yield f"{who}: agrees with {other} no more than chance would."


def _row(number: int, card: JudgeCard, quotes: Quotes) -> tuple[Entry, ...]:
    at = path_of("judges", number)
    places = {one.other: path_of("judges", number, "agreements", place) for place, one in enumerate(card.agreements)}
    return (
        card.judge,
        card.metric,
        (quotes.quote("count", f"{at}.judged"), "/", quotes.quote("count", f"{at}.due")),
        *quotes.row(at, "ratio mean", "ratio own_sd", "share split_share"),
        _agreement(places.get("answer_em"), quotes),
        _agreement(places.get("human"), quotes, counted=True),
        *quotes.row(at, "count calls", "tokens_sum input_tokens output_tokens", "usd usd"),
    )


def _agreement(at: str | None, quotes: Quotes, *, counted: bool = False) -> Entry:
    """As in `80% (0.58) of 60`."""
    if at is None:
        return UNDEFINED
    of = (" of ", quotes.quote("count", f"{at}.n")) if counted else ()
    return (quotes.quote("share", f"{at}.share"), " (", quotes.quote("ratio", f"{at}.kappa"), ")", *of)


_ABSTENTION_LEGEND = (
    "share of the questions without an answer on which a cell abstained (correct) or answered all the same "
    "(unsupported), and of those with an answer on which it abstained (false)."
)
_ABSTENTION = {"correct_abstention": "correct", "unsupported_claim": "unsupported", "false_abstention": "false"}


def abstention(board: Leaderboard, marks: Sequence[Mark]) -> Section | None:
    """A row per cell that writes answers; None where every question has an answer and no cell abstained."""
    shown = [mark for mark in marks if any(board.cells[mark.place].defines(one) for one in _ABSTENTION)]
    if not shown or not any(cell.n_abstained or cell.defines("correct_abstention") for cell in board.cells):
        return None
    figures = {heading: f"metric {name}" for name, heading in _ABSTENTION.items()}
    return Section("Abstention", _ABSTENTION_LEGEND, (Block(grid=cell_grid(Quotes(board), shown, figures, "metrics")),))
