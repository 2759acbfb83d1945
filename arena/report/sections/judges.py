"""What the judges came to, below the leaderboard: a row per judge and metric, and a sentence on each weakness.

Who abstains where, below the leaderboard: apart from accuracy, which an abstention cannot raise.

How far the judges can be trusted, and who abstains where.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.leaderboard.build import CellSummary, Leaderboard
from arena.leaderboard.judge_card import Agreement, JudgeCard
from arena.llm.providers import is_fake
from arena.report.figures import UNDEFINED, Quotes, metric_text, path_of, usd_text
from arena.report.names import Mark, names_of
from arena.report.section import Entry, Grid
from arena.report.text import Rows, natural_chars, print_parts

_LEGEND = (
    "Judges: answers with a verdict, of those due (an abstention is not); the mean over them; sd = of "
    "repeated verdicts on one answer; split = two ratings of one answer differ; EM, people = share of answers that "
    "judge and exact match, or people, call the same, Cohen's kappa, and how many people labelled. Their tokens and "
    "money are in no cell's."
)


def print_judges(board: Leaderboard, console: Console) -> None:
    """Print nothing for a board without judges. Names come from the config and are never taken for markup."""
    if not board.judges:
        return
    table = _table(board.judges)
    if not console.is_terminal:  # a pipe or file gets every column at its natural width
        console = type(console)(file=console.file, width=max(console.width, natural_chars(table, console)))
    console.print()
    console.print(Text(_LEGEND, style="dim"))
    console.print(table)
    for note in judge_notes(board.judges):
        console.print(Text(note), soft_wrap=True)


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
        times = "1 verdict" if card.echoed == 1 else f"{card.echoed:,} verdicts"
        yield f"{who}: repeats its prompt instead of judging in {times}; what it repeats counts as not judged."
    if card.constant is not None:
        yield f"{who}: gives {card.constant:g} to every answer: it tells nothing apart."
    for agreement in card.agreements:
        if agreement.kappa is not None and agreement.kappa <= 0:
            yield f"{who}: agrees with {_name(agreement)} no more than chance would."


def _table(cards: Sequence[JudgeCard]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("judge", "metric"):
        table.add_column(heading, overflow="fold")
    for heading in ("judged", "mean", "sd", "split", "EM", "people", "calls", "tokens", "USD"):
        table.add_column(heading, justify="right", no_wrap=True)
    for card in cards:
        table.add_row(*map(Text, _row(card)))
    return table


def _row(card: JudgeCard) -> tuple[str, ...]:
    parts = (card.input_tokens, card.output_tokens)
    tokens = "unknown" if None in parts else f"{sum(part or 0 for part in parts):,.0f}"
    agreements = {one.other: one for one in card.agreements}
    return (
        card.judge,
        card.metric,
        f"{card.judged:,}/{card.due:,}",
        UNDEFINED if card.mean is None else f"{card.mean:.2f}",
        UNDEFINED if card.own_sd is None else f"{card.own_sd:.2f}",
        UNDEFINED if card.split_share is None else f"{card.split_share:.0%}",
        _agreement_text(agreements.get("answer_em")),
        _agreement_text(agreements.get("human"), counted=True),
        f"{card.calls:,}",
        tokens,
        usd_text(card.usd),
    )


def _agreement_text(agreement: Agreement | None, *, counted: bool = False) -> str:
    if agreement is None:
        return UNDEFINED
    kappa = UNDEFINED if agreement.kappa is None else f"{agreement.kappa:.2f}"
    return f"{agreement.share:.0%} ({kappa})" + (f" of {agreement.n:,}" if counted else "")


def _name(agreement: Agreement) -> str:
    return "people" if agreement.other == "human" else "exact match"


_ABSTENTION_TABLE_LEGEND = (
    "Abstention: share of the questions without an answer on which a cell abstained (correct) or answered all the same "
    "(unsupported), and of those with an answer on which it abstained (false)."
)
_SHOWN = {"correct_abstention": "correct", "unsupported_claim": "unsupported", "false_abstention": "false"}


def print_abstention(board: Leaderboard, console: Console) -> None:
    """Print nothing where every question has an answer and no cell abstained."""
    rows = abstention_rows(board)
    if rows.rows:
        print_parts((Text(_ABSTENTION_TABLE_LEGEND, style="dim"), rows), console)


def abstention_rows(board: Leaderboard) -> Rows:
    """A row per cell that writes answers."""
    headings, names = names_of(board.cells)
    tempted = any(cell.n_abstained or _is_defined(cell, "correct_abstention") for cell in board.cells)
    rows = tuple(
        (*named, *(metric_text(cell.metrics.get(metric)) for metric in _SHOWN))
        for cell, named in zip(board.cells, names, strict=True)
        if tempted and any(_is_defined(cell, metric) for metric in _SHOWN)
    )
    return Rows((*headings, *_SHOWN.values()), rows, len(headings))


def _is_defined(cell: CellSummary, metric: str) -> bool:
    return metric in cell.metrics and cell.metrics[metric].coverage is not None


ABSTENTION = ("correct_abstention", "unsupported_claim", "false_abstention")


def judges_grid(board: Leaderboard) -> Grid | None:
    """A row per judge and metric; None where nothing was judged."""
    if not board.judges:
        return None
    quotes = Quotes(board)
    headings = ("judge", "metric", "judged", "due", "mean", "sd of repeats", "split", "agrees with EM", "kappa",
                "with people", "kappa", "calls", "USD")  # fmt: skip
    rows = tuple(_row_judges_view(number, card, quotes) for number, card in enumerate(board.judges))
    return Grid(headings, rows, n_names=2)


def abstention_grid(board: Leaderboard, marks: Sequence[Mark]) -> Grid | None:
    """A row per cell that writes answers; None where every question has an answer and no cell abstained."""
    tempted = any(cell.n_abstained or _defined(board, mark.place, ABSTENTION[0]) for cell, mark in
                  zip(board.cells, marks, strict=True))  # fmt: skip
    shown = [mark for mark in marks if any(_defined(board, mark.place, one) for one in ABSTENTION)]
    if not tempted or not shown:
        return None
    quotes = Quotes(board)
    rows: tuple[tuple[Entry, ...], ...] = tuple(
        (mark, *(quotes.quote("metric", path_of("cells", mark.place, "metrics", one)) for one in ABSTENTION))
        for mark in shown
    )
    return Grid(
        ("cell", "abstains where nobody can answer", "answers all the same", "abstains on the answerable"), rows
    )


def _row_judges_view(number: int, card: JudgeCard, quotes: Quotes) -> tuple[Entry, ...]:
    at = path_of("judges", number)
    agreements = {
        one.other: path_of("judges", number, "agreements", place) for place, one in enumerate(card.agreements)
    }
    em, people = agreements.get("answer_em", "none"), agreements.get("human", "none")
    return (
        card.judge,
        card.metric,
        quotes.quote("count", f"{at}.judged"),
        quotes.quote("count", f"{at}.due"),
        quotes.quote("ratio", f"{at}.mean"),
        quotes.quote("ratio", f"{at}.own_sd"),
        quotes.quote("share", f"{at}.split_share"),
        quotes.quote("share", f"{em}.share"),
        quotes.quote("ratio", f"{em}.kappa"),
        quotes.quote("share", f"{people}.share"),
        quotes.quote("ratio", f"{people}.kappa"),
        quotes.quote("count", f"{at}.calls"),
        quotes.quote("usd", f"{at}.usd"),
    )


def _defined(board: Leaderboard, place: int, metric: str) -> bool:
    summary = board.cells[place].metrics.get(metric)
    return summary is not None and summary.coverage is not None
