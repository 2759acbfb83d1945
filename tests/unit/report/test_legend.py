from __future__ import annotations

from arena.leaderboard.guards import GuardFinding
from arena.report.console import render_markdown
from arena.report.sections.leaderboard import COLUMNS
from arena.report.sections.limits import FAKE, caption, legend, notes
from tests.unit.leaderboard.boards import PATCHY, WITHHELD, board, row
from tests.unit.leaderboard.contests import board_of, three_cells


def test_the_caption_names_every_model_once() -> None:
    assert caption(board(row(llm=None))) == "world, 240 documents; no model"
    several = board(row(llm="openai:b"), row(llm="openai:a"), row(llm="openai:b"), row(llm=None))
    assert caption(several).endswith("models openai:a, openai:b")


def test_a_fake_model_is_called_one() -> None:
    assert caption(board(row(llm="fake:"))).endswith("; FAKE MODEL: the answers are made up")
    both = caption(board(row(llm="openai:a"), row(llm="fake:script.json")))
    assert both.endswith("; FAKE MODEL: the answers of fake:script.json are made up")
    assert FAKE not in caption(board(row(llm="openai:fake:1")))


def test_the_legend_explains_n_and_ranks_nobody() -> None:
    text = legend(board(row()))
    assert "n = questions asked; a metric's own n may be smaller" in text
    assert "*" not in text
    assert "[low, high]" not in text
    assert "abstention" not in text
    assert "An abstention scores 0 in every metric of the answer, judged or not" in legend(board(row(abstained=2)))
    assert "[low, high]" in legend(board(row(), row(metric=PATCHY, failed=2)))


def test_notes_count_what_went_wrong() -> None:
    assert notes(board(row())) == []
    truncated, failed = notes(board(row(failed=1, truncated=3), row(truncated=4)))
    assert failed.startswith("1 question failed")
    assert truncated == "7 questions had a reply cut off at max_tokens: raise llm.max_tokens."
    assert notes(board(row()), COLUMNS[-2:])[0].startswith("No room for USD, seconds:")


def test_markdown_is_a_table_that_names_cannot_break() -> None:
    lines = render_markdown(board(row("a|b*c"), row("vanilla", "dense"))).splitlines()
    assert {line.replace("\\|", "").count("|") for line in lines[:4]} == {lines[0].count("|")}
    assert "a\\|b\\*c" in lines[2]
    assert lines[1].startswith("| --- | --- | ---: |")
    assert "*" not in lines[3]


def test_markdown_makes_nothing_of_a_name() -> None:
    lines = render_markdown(board(row("<img src=x>&[a](http://b)\nc\u2028d"))).splitlines()
    assert "| &lt;img src=x>&amp;[a]\\(http://b) c d |" in lines[2]
    assert [line[:1] for line in lines[:4]] == ["|", "|", "|", ""]


def test_the_markdown_footer_says_what_was_measured_and_what_failed() -> None:
    text = render_markdown(board(row(metric=WITHHELD, failed=20, truncated=2)))
    footer = text.splitlines()[-1]
    assert footer.startswith("world, 240 documents; model local:smollm2-135m; run `run_0`.")
    assert "[.37, .71]" in text.splitlines()[2]
    assert "20 questions failed" in footer
    assert "2 questions had a reply cut off" in footer


def test_ranks_are_explained_where_there_are_any() -> None:
    text = legend(board_of(*three_cells()))
    assert "rank: by answer_f1, from 1 + the cells better by more than chance" in text
    assert "Holm over 3 pairs, 5% level" in text
    assert "rank: by" not in legend(board(row()))
    assert "rank: by retrieval_recall" in legend(board(row(ranks={"retrieval_recall": (1, 1)})))


def test_what_would_have_been_found_is_said_once() -> None:
    (note,) = [one for one in notes(board_of(*three_cells())) if "told apart" in one]
    assert note.startswith("Two cells that truly differ by 0.")
    assert "in answer F1 are told apart 4 times in 5" in note


def test_missing_verdicts_are_told_from_failed_questions() -> None:
    judged = row().model_copy(update={"metrics": {"faithfulness": WITHHELD}})
    assert "what a judge was asked and did not say" in legend(board(judged))
    assert "judge" not in legend(board(row(metric=PATCHY, failed=2)))


def test_what_is_invalid_is_said_with_its_reason() -> None:
    whole = GuardFinding(guard="no_calls", message="it asked nothing")
    part = GuardFinding(guard="constant_metric", message="it is 0.5 on each of 60 questions", metric="answer_f1")
    said = notes(board(row("a").model_copy(update={"guards": [whole]}), row("b").model_copy(update={"guards": [part]})))
    assert said == [
        "a + hybrid_rerank: no result: it asked nothing.",
        "b + hybrid_rerank: answer_f1 is no result: it is 0.5 on each of 60 questions.",
    ]


def test_the_warm_up_is_mentioned_where_there_was_one() -> None:
    assert "warms up" not in legend(board(row()))
    assert "warms up" in legend(board(row(measured=59).model_copy(update={"n_warm_up": 1})))
