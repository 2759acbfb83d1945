from __future__ import annotations

from arena.report.legend import DRY_RUN, caption, legend, notes
from arena.report.markdown import render_markdown
from arena.report.rows import COLUMNS
from tests.unit.report.boards import PATCHY, WITHHELD, board, row


def test_the_caption_names_every_model_once() -> None:
    assert caption(board(row(llm=None))) == "world, 240 documents; no model"
    several = board(row(llm="openai:b"), row(llm="openai:a"), row(llm="openai:b"), row(llm=None))
    assert caption(several).endswith("models openai:a, openai:b")


def test_a_fake_model_is_called_one() -> None:
    assert DRY_RUN in caption(board(row(llm="openai:a"), row(llm="fake:script.json")))
    assert DRY_RUN not in caption(board(row(llm="openai:fake:1")))


def test_the_legend_explains_n_and_ranks_nobody() -> None:
    text = legend(board(row()))
    assert "n = questions asked; a metric's own n may be smaller" in text
    assert "*" not in text
    assert "[low, high]" not in text
    assert "[low, high]" in legend(board(row(), row(metric=PATCHY, failed=2)))


def test_notes_count_what_went_wrong() -> None:
    assert notes(board(row())) == []
    failed, truncated = notes(board(row(failed=1, truncated=3), row(truncated=4)))
    assert failed.startswith("1 question failed")
    assert truncated == "7 questions had a reply cut off at max_tokens: raise llm.max_tokens."
    assert notes(board(row()), COLUMNS[-2:])[0].startswith("No room for USD, seconds:")


def test_markdown_is_a_table_that_names_cannot_break() -> None:
    lines = render_markdown(board(row("a|b*c"), row("vanilla", "dense"))).splitlines()
    assert {line.replace("\\|", "").count("|") for line in lines[:4]} == {lines[0].count("|")}
    assert "a\\|b\\*c" in lines[2]
    assert lines[1].startswith("| --- | --- | ---: |")
    assert "*" not in lines[3]


def test_the_markdown_footer_says_what_was_measured_and_what_failed() -> None:
    text = render_markdown(board(row(metric=WITHHELD, failed=20, truncated=2)))
    footer = text.splitlines()[-1]
    assert footer.startswith("world, 240 documents; model local:smollm2-135m; run `run_0`.")
    assert "[.37, .71]" in text.splitlines()[2]
    assert "20 questions failed" in footer
    assert "2 questions had a reply cut off" in footer
