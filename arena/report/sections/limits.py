"""What stands around the tables: what was measured, what the marks mean, what a reader must not conclude."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from arena.leaderboard.build import COVERAGE_FLOOR, CellSummary, Leaderboard
from arena.leaderboard.gap import FLOOR
from arena.leaderboard.schema import LEVEL
from arena.leaderboard.validity import counted, size_statement
from arena.llm.providers import is_fake
from arena.report.figures import UNDEFINED, Phrase, Quotes, path_of, usd_text
from arena.report.names import Mark, is_invented, listed, metric_name, name_of, standing_of, warning_lines
from arena.report.section import entry_text
from arena.report.sections.leaderboard import F1_RANK, RECALL_RANK, Column, columns_of
from arena.types import UNSTATED, JudgeMetric


def spending_notes(board: Leaderboard) -> Iterator[str]:
    """One sentence each on money that is unknown, on latency that was not measured, and on what was replayed."""
    yield from _on_money(board.cells)
    yield from _on_latency(board.cells)
    yield from _on_replays(board.cells)


def _on_money(cells: Sequence[CellSummary]) -> Iterator[str]:
    def withheld(reason: str) -> list[CellSummary]:
        return [cell for cell in cells if cell.spending is not None and cell.spending.withheld == reason]

    models = sorted({cell.llm for cell in withheld("no_price") if cell.llm and not is_fake(cell.llm)})
    unstated = [cell for cell in withheld("no_price") if cell.llm == UNSTATED]
    if unstated:
        yield f"USD of {_names(unstated)} is unknown: it is not said which model wrote the answers."
    if models := [model for model in models if model != UNSTATED]:
        yield f"USD is withheld: no price is known for {', '.join(models)}; give one under `prices` in the config."
    if unknown := withheld("unknown_usage"):
        calls = counted(sum(cell.spending.unknown_calls for cell in unknown if cell.spending), "call")
        yield f"USD of {_names(unknown)} is withheld: the provider did not report all tokens of {calls}."
    if timeless := withheld("no_seconds"):
        yield f"USD of {_names(timeless)} is withheld: replayed calls have no seconds, by which their model is priced."


def _on_latency(cells: Sequence[CellSummary]) -> Iterator[str]:
    unmeasured = [cell for cell in cells if cell.latency_seconds.n_measured == 0]
    if replayed := [cell for cell in unmeasured if _replayed_questions(cell)]:
        yield f"seconds of {_names(replayed)} are withheld: every question had a replayed call; --no-cache asks anew."
    if partly := sum(_replayed_questions(cell) for cell in cells if cell.latency_seconds.n_measured):
        yield f"seconds leave out {counted(partly, 'question')} with a replayed call."
    if warm := [cell for cell in unmeasured if cell.n_warm_up]:
        yield f"seconds of {_names(warm)} are withheld: nothing was measured after the first question, which warms up."


def _on_replays(cells: Sequence[CellSummary]) -> Iterator[str]:
    spent = [cell.spending for cell in cells if cell.spending and cell.spending.replayed_calls]
    if spent:
        costs = [one.replayed_usd for one in spent if one.replayed_usd]
        worth = f" (${usd_text(sum(costs))} of the cost)" if len(costs) == len(spent) else ""
        count = sum(one.replayed_calls for one in spent)
        yield f"{counted(count, 'call')}{worth} came from the reply cache, paid for before; tokens count them."


def _replayed_questions(cell: CellSummary) -> int:
    """Questions left out of the latency although they did not fail; none where no call was replayed."""
    if cell.spending is not None and cell.spending.replayed_calls == 0:
        return 0
    return cell.n_questions - cell.n_failed - cell.n_warm_up - cell.latency_seconds.n_measured


def _names(cells: Sequence[CellSummary]) -> str:
    return ", ".join(name_of(cell) for cell in cells)


FAKE = "made up"
"""What the answers of a fake model are called."""

_JUDGED: frozenset[str] = frozenset(get_args(JudgeMetric))


def caption(board: Leaderboard) -> str:
    """Data and models, as in `world, 240 documents; model local:smollm2-135m`."""
    models = sorted({cell.llm for cell in board.cells if cell.llm is not None})
    named = f"model{'s' if len(models) > 1 else ''} {', '.join(models)}" if models else "no model"
    fakes = [model for model in models if is_fake(model)]
    whose = "the answers" if fakes == models else f"the answers of {', '.join(fakes)}"
    said = f"; FAKE MODEL: {whose} are {FAKE}" if fakes else ""
    return f"{board.dataset.name}, {board.dataset.n_documents:,} documents; {named}{said}"


def legend(board: Leaderboard) -> str:
    """How to read the figures; what concerns failures is said only where there are any."""
    text = (
        "n = questions asked; a metric's own n may be smaller (the questions it is defined for). Scores: mean and 95% "
        "interval (Wilson for yes-or-no metrics and small or nearly equal samples, else bootstrap); overlapping "
        f"intervals are no ranking. {UNDEFINED} = not defined. tokens: input + output per question. seconds: p50 / p95 "
        "per question, without queueing."
    )
    if any(cell.n_abstained for cell in board.cells):
        text += (
            " An abstention scores 0 in every metric of the answer, judged or not, where the question has one; it "
            "claims nothing, so that faithfulness and citations are measured on the other answers."
        )
    if any(cell.n_warm_up for cell in board.cells):
        text += " The first question of each cell and process warms up and is left out of them."
    if metric := _ranked_by(board):
        text += f" {_on_ranks(board, metric)}"
    if board.prices and any(cell.cost_usd_per_question for cell in board.cells):
        text += f" USD: per question; {board.prices.source}, prices of {board.prices.as_of}."
    missing = {
        name
        for cell in board.cells
        for name, summary in cell.metrics.items()
        if summary.coverage is not None and summary.coverage < 1
    }
    beside = ["what a judge was asked and did not say"] if missing & _JUDGED else []
    if any(one.code == "unreported_evidence" for one in board.all_warnings):
        beside.append("what a system did not report")
    return f"{text} {_on_missing_scores(beside)}" if missing else text


def notes(board: Leaderboard, dropped: Sequence[Column] = ()) -> list[str]:
    """What went wrong in the run, what limits it, and what the table had no room for; one sentence each."""
    lines = warning_lines(board)
    lines += spending_notes(board)
    if detectable := _on_detectable(board):
        lines.append(detectable)
    if dropped:
        names = ", ".join(column.heading for column in dropped)
        lines.append(f"No room for {names}: widen the terminal, or send the output to a pipe or file.")
    return lines


def size_note(board: Leaderboard) -> str | None:
    """What the questions can show where the cells differ on too few to estimate it; None where a warning says it."""
    asked = max((cell.n_questions for cell in board.cells), default=0)
    if len(board.cells) < 2 or any(one.code == "few_questions" for one in board.all_warnings):
        return None
    statement = size_statement(asked)
    return f"{statement[0].upper()}{statement[1:]}; they differ on too few here to estimate it from these scores."


def _on_missing_scores(beside: Sequence[str]) -> str:
    """`beside`: what may be missing beside the scores of failed questions."""
    floor = f"{1 - COVERAGE_FLOOR:.0%}"
    if beside:
        return (
            f"[low, high] = the mean with what is missing counted as 0 and as 1: failed questions, and "
            f"{' and '.join(beside)}; the mean is withheld where more than {floor} is missing. seconds leave failed "
            "questions out."
        )
    return (
        "[low, high] = the mean with failed questions counted as 0 and as 1; the mean is withheld where more than "
        f"{floor} of them failed. seconds leave failed questions out."
    )


def _on_ranks(board: Leaderboard, metric: str) -> str:
    pairs = counted(sum(one.metric == metric and one.p is not None for one in board.comparisons), "pair")
    return (
        f"rank: by {metric}, from 1 + the cells better by more than chance to all that compete less those worse by "
        f"more than chance (paired permutation test on shared questions, Holm over {pairs}, {LEVEL:.0%} level); ranges "
        "from 1 are the top group."
    )


def detectable(quotes: Quotes, metric: str) -> Phrase:
    """What the comparison of a metric could have found; empty where nobody knows."""
    if metric not in quotes.board.detectable:
        return ()
    least = quotes.quote("ratio", path_of("detectable", metric))
    return (
        "Two cells that truly differ by ",
        least,
        f" in {metric_name(metric)} are told apart 4 times in 5 where only they are compared ({LEVEL:.0%} level), and "
        "less often among many; smaller differences may be missed.",
    )


def _on_detectable(board: Leaderboard) -> str | None:
    metric = _ranked_by(board)
    if metric is None:
        return None
    return entry_text(detectable(Quotes(board), metric)) or size_note(board)


def _ranked_by(board: Leaderboard) -> str | None:
    """The metric whose ranks the table shows."""
    columns = columns_of(board)
    return "answer_f1" if F1_RANK in columns else "retrieval_recall" if RECALL_RANK in columns else None


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
        *_imitation(board, marks),
        _one_sample(board, manifest),
        *((note,) for note in spending_notes(board)),
    )


def warnings(board: Leaderboard) -> tuple[Phrase, ...]:
    """What is wrong with the run itself: failed questions, and the validity warnings of its leaderboard."""
    return (*_failed(board, Quotes(board)), *((one,) for one in warning_lines(board)))


def _contamination(board: Leaderboard, quotes: Quotes) -> Phrase:
    if is_invented(board):
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
    if told := detectable(quotes, standing.metric) if standing else ():
        rest: Phrase = (*told, " That two cells are in one group does not show that they are equal.")
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
