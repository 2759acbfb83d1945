"""What a reader must not conclude, in plain words: contamination, size, judge, imitation, seconds and money."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from arena.llm import is_fake
from arena.report.gap import FLOOR
from arena.report.judges_table import judge_notes
from arena.report.leaderboard import Leaderboard
from arena.report.page.headline import standing_of
from arena.report.page.marks import Mark
from arena.report.page.quoted import Phrase, Quotes, path_of
from arena.report.page.wording import counted, listed, metric_name
from arena.report.withheld import spending_notes

_INVENTED = "world"
_IMITATIONS = {
    "T0": "only the control flow is the paper's, and what it decides by is what a general model writes",
    "T1": "what the paper trains a model for is read from the probabilities that a general model gives to labels",
}


def limits(board: Leaderboard, marks: Sequence[Mark], manifest: Mapping[str, Any]) -> tuple[Phrase, ...]:
    """A paragraph each; what does not concern the run is not said."""
    quotes = Quotes(board)
    return (
        *_dry_run(board),
        _contamination(board, quotes),
        *_size(board, quotes),
        _judge(board),
        *((note,) for note in judge_notes(board.judges)),
        *_imitation(board, marks),
        _one_sample(board, manifest),
        *((note,) for note in spending_notes(board)),
    )


def warnings(board: Leaderboard, marks: Sequence[Mark]) -> tuple[Phrase, ...]:
    """What is wrong with the run itself: invalid and withheld figures, failed and cut-off questions."""
    quotes = Quotes(board)
    return (*_invalid(board, marks), *_withheld(board, marks), *_failed(board, quotes))


def _dry_run(board: Leaderboard) -> Iterator[Phrase]:
    if any(cell.llm and is_fake(cell.llm) for cell in board.cells):
        yield (
            "The answers are those of a fake model, which copies words by simple rules: this is a dry run of the "
            "machinery. Only its retrieval figures say anything, and none of its answers do.",
        )


def _contamination(board: Leaderboard, quotes: Quotes) -> Phrase:
    name = board.dataset.name
    if name.partition(":")[0] == _INVENTED:
        return ("Contamination: the world of these questions was invented: no model can know their answers by heart. "
                "Its texts are simpler than those of an encyclopedia.",)  # fmt: skip
    floor = next(
        (place for place, cell in enumerate(board.cells) if (cell.strategy, cell.retrieval_mode) == FLOOR), None
    )
    opening = "Contamination: a model may have read these questions, or the texts they were made from, in training."
    if floor is None:
        return (f"{opening} How much it knows by heart was not measured: closed_book was not run.",)
    figure = quotes.quote("metric", path_of("cells", floor, "metrics", "answer_f1"))
    return (f"{opening} closed_book, which sees no document, has an answer F1 of ", figure,
            ": so much of every other figure may be memory.")  # fmt: skip


def _size(board: Leaderboard, quotes: Quotes) -> Iterator[Phrase]:
    standing = standing_of(board)
    asked = quotes.quote("count", path_of("dataset", "n_questions"))
    if standing is None or standing.metric not in board.detectable:
        yield ("Size: the data hold ", asked, " questions.")
        return
    least = quotes.quote("ratio", path_of("detectable", standing.metric))
    yield ("Size: the data hold ", asked, " questions. Two cells that truly differ by ", least,
           f" in {metric_name(standing.metric)} are told apart 4 times in 5 where only they are compared, and less "
           "often among many; that two cells are in one group does not show that they are equal.")  # fmt: skip


def _judge(board: Leaderboard) -> Phrase:
    if not board.judges:
        return ("Judge: none was asked. Answers are held against gold word by word, so that a right answer in other "
                "words counts as wrong, and lexical faithfulness looks for words, not for meaning.",)  # fmt: skip
    names = listed(sorted({card.judge for card in board.judges}))
    return (f"Judge: {names} rated the answers. A judge errs, prefers its own kind and long answers, and is known only "
            "as far as the judge card says.",)  # fmt: skip


def _imitation(board: Leaderboard, marks: Sequence[Mark]) -> Iterator[Phrase]:
    for tier, means in _IMITATIONS.items():
        strategies = dict.fromkeys(mark.strategy for mark in marks if board.cells[mark.place].fidelity_tier == tier)
        if strategies:
            yield (f"Imitation: {listed(list(strategies))} ran at {tier}: {means}. So are the figures.",)


def _one_sample(board: Leaderboard, manifest: Mapping[str, Any]) -> Phrase:
    seed = manifest.get("config", {}).get("seed")
    seeded = "" if seed is None else f" (seed {seed})"
    return (f"One sample: every question was answered once per cell{seeded}, on one dataset, by the models named here. "
            "Intervals are over questions, as if others of their kind had been asked; they do not cover another model, "
            "corpus, prompt or seed. Seconds are those of one machine.",)  # fmt: skip


def _invalid(board: Leaderboard, marks: Sequence[Mark]) -> Iterator[Phrase]:
    found: dict[tuple[str | None, str], list[str]] = {}
    for mark in marks:
        for one in board.cells[mark.place].guards:
            found.setdefault((one.metric, one.message), []).append(mark.name)
    for (metric, message), names in found.items():
        what = f"{metric_name(metric)} of " if metric else ""
        yield (f"No result: {what}{listed(names)}: {message}.",)


def _withheld(board: Leaderboard, marks: Sequence[Mark]) -> Iterator[Phrase]:
    for metric in ("answer_f1", "retrieval_recall", "answer_accuracy", "faithfulness"):
        names = [mark.name for mark in marks if _is_withheld(board, mark.place, metric)]
        if names:
            yield (
                f"Withheld: the mean {metric_name(metric)} of {listed(names)}, because too many scores are missing.",
            )


def _is_withheld(board: Leaderboard, place: int, metric: str) -> bool:
    summary = board.cells[place].metrics.get(metric)
    return summary is not None and summary.coverage is not None and summary.mean is None


def _failed(board: Leaderboard, quotes: Quotes) -> Iterator[Phrase]:
    for name, rest in (
        ("n_failed", " failed; they count as 0 in the lower bounds and in the planes of cost and quality."),
        ("n_truncated", " had a reply cut off at max_tokens."),
    ):
        concerned = [place for place, cell in enumerate(board.cells) if getattr(cell, name)]
        if concerned:
            total = quotes.quote("counts", *(path_of("cells", place, name) for place in concerned))
            yield (total, f" answers in {counted(len(concerned), 'cell')}{rest}")
