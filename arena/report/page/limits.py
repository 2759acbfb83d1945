"""What a reader must not conclude, in plain words: contamination, size, judge, imitation, seconds and money."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from arena.report.gap import FLOOR
from arena.report.judges_table import judge_notes
from arena.report.leaderboard import Leaderboard
from arena.report.legend import size_note
from arena.report.page.marks import Mark
from arena.report.page.quoted import Phrase, Quotes, path_of
from arena.report.page.wording import counted, listed, metric_name
from arena.report.standing import standing_of
from arena.report.validity import sentences
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
        _contamination(board, quotes),
        *_size(board, quotes),
        _judge(board),
        *((note,) for note in judge_notes(board.judges)),
        *_imitation(board, marks),
        _one_sample(board, manifest),
        *((note,) for note in spending_notes(board)),
    )


def warnings(board: Leaderboard, marks: Sequence[Mark]) -> tuple[Phrase, ...]:
    """What is wrong with the run itself: failed questions, and the validity warnings of its leaderboard."""
    names = {board.cells[mark.place].cell: mark.name for mark in marks}
    said = sentences(board.all_warnings, names)
    return (*_failed(board, Quotes(board)), *((one,) for one in said))


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
    held = quotes.quote("count", path_of("dataset", "n_questions"))
    if standing is not None and standing.metric in board.detectable:
        least = quotes.quote("ratio", path_of("detectable", standing.metric))
        rest: Phrase = ("Two cells that truly differ by ", least, f" in {metric_name(standing.metric)} are told apart "
                        "4 times in 5 where only they are compared, and less often among many; that two cells are in "
                        "one group does not show that they are equal.")  # fmt: skip
    else:
        note = size_note(board)
        rest = (note,) if note else ()
    if board.dataset.n_asked is None:
        most = max(range(len(board.cells)), key=lambda place: board.cells[place].n_questions, default=None)
        asked = () if most is None else (quotes.quote("count", path_of("cells", most, "n_questions")),)
        opening: Phrase = ("Size: of the ", held, " questions that the data hold, no cell was asked more than ", *asked,
                           ". ") if asked else ("Size: the data hold ", held, " questions. ")  # fmt: skip
    else:
        n_asked = quotes.quote("count", path_of("dataset", "n_asked"))
        opening = ("Size: ", n_asked, " of the ", held, " questions that the data hold were asked. ")
    yield (*opening, *rest)


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


def _failed(board: Leaderboard, quotes: Quotes) -> Iterator[Phrase]:
    concerned = [place for place, cell in enumerate(board.cells) if cell.n_failed]
    if concerned:
        total = quotes.quote("counts", *(path_of("cells", place, "n_failed") for place in concerned))
        yield (total, f" answers in {counted(len(concerned), 'cell')} failed; they count as 0 in the lower bounds and "
               "in the planes of cost and quality.")  # fmt: skip
