from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace

import pytest
from rich.console import Console

from arena.leaderboard.build import Leaderboard, build_leaderboard
from arena.leaderboard.validity import IndexFacts, ValidityWarning, concerning, index_facts, size_statement
from arena.report.console import print_leaderboard, render_markdown
from arena.report.names import marks_of, warning_lines
from arena.report.sections.limits import limits, notes, warnings
from arena.scoring import score_records
from arena.types import Cell, Dataset, Decision, RunRecord
from tests.samples import answered, call
from tests.unit.leaderboard.boards import WITHHELD, board, row
from tests.unit.report.pages import said

TRUNCATED = IndexFacts("jsonl:mine", "minilm", passages=161, truncated=130, limit_tokens=256, fits_tokens=231)


def built(dataset: Dataset, *records: RunRecord, indexes: Sequence[IndexFacts] = ()) -> Leaderboard:
    table = score_records(records, dataset)
    return build_leaderboard(table, dataset, run_id="r", fingerprint="f", tiers={}, seed=0, indexes=indexes)


def of_code(leaderboard: Leaderboard, code: str) -> list[ValidityWarning]:
    return [one for one in leaderboard.all_warnings if one.code == code]


def test_passages_that_are_cut_off_stand_in_the_leaderboard_with_what_would_fit(dataset: Dataset) -> None:
    found = built(dataset, answered("q1", "x", ("d1",)), indexes=[TRUNCATED])
    (warning,) = of_code(found, "truncated_passages")
    assert warning.figures == {"truncated": 130, "passages": 161, "limit_tokens": 256, "fits_tokens": 231}
    assert "130 of 161 passages of jsonl:mine are longer than the 256 tokens that minilm reads" in warning.message
    assert "chunk at most 231 tokens" in warning.message
    assert Leaderboard.model_validate_json(found.model_dump_json()) == found


def test_chunks_that_are_still_too_long_are_told_why(dataset: Dataset) -> None:
    chunked = replace(TRUNCATED, passages=997, truncated=839, chunk_tokens=256)
    (warning,) = of_code(built(dataset, answered("q1", "x", ("d1",)), indexes=[chunked]), "truncated_passages")
    assert "chunks of 256 tokens are too long, because title and framing tokens" in warning.message
    assert "chunk at most 231 tokens" in warning.message


def test_an_index_that_nobody_searches_is_no_warning(dataset: Dataset) -> None:
    oracle = Cell("oracle", "gold", "fake:", {})
    assert not of_code(
        built(dataset, answered("q1", "x", ("d1",), of=oracle), indexes=[TRUNCATED]), "truncated_passages"
    )


def test_a_manifest_tells_of_both_indexes_and_an_older_one_of_what_it_has() -> None:
    counted = {"passages": 161, "truncated_passages": 130, "fits_tokens": 231}
    manifest = {
        "config": {"dataset": "jsonl:mine", "chunking": {"tokens": None}, "external": {"dataset": "jsonl:other"}},
        "identity": {"index": {"embedder": {"model": "minilm", "max_length_tokens": 256}}},
        "index": counted,
        "second_index": {"passages": 2, "truncated_passages": 1},
    }
    first, second = index_facts(manifest)
    assert first == TRUNCATED
    assert (second.corpus, second.truncated, second.fits_tokens) == ("jsonl:other", 1, None)
    assert index_facts({}) == []


def judged(origin: str, tier: str, *, of: Cell) -> RunRecord:
    """An answer after two decisions by a threshold of that origin."""
    record = answered("q1", "x", ("d1",), of=of)
    made = (
        Decision("evaluate", "correct", 0.7, 0.5, origin, tier=tier),
        Decision("evaluate", "incorrect", -0.7, -0.5, origin, tier=tier),
        Decision("refine", "kept", 0.2, 0.0, origin, tier=tier),
    )
    return replace(record, decisions=made)


def corrective(mode: str = "dense", **params: str) -> Cell:
    return Cell("corrective", mode, "openai:a", dict(params))


def test_default_thresholds_on_the_probabilities_of_a_general_model_are_a_warning(dataset: Dataset) -> None:
    records = [judged("default", "T1", of=corrective(mode)) for mode in ("dense", "hybrid")]
    (warning,) = of_code(built(dataset, *records, answered("q1", "x")), "uncalibrated_thresholds")
    assert "thresholds not calibrated for this judge (evaluate -0.5 and 0.5, refine 0)" in warning.message
    assert warning.cells == [corrective("dense").key, corrective("hybrid").key]


@pytest.mark.parametrize(
    ("origin", "tier"), [("calibrated", "T1"), ("user", "T1"), ("paper", "T2"), ("default", "T2"), ("default", "T0")]
)
def test_thresholds_that_somebody_chose_or_that_decide_nothing_are_none(
    dataset: Dataset, origin: str, tier: str
) -> None:
    assert not of_code(built(dataset, judged(origin, tier, of=corrective())), "uncalibrated_thresholds")


def test_corrective_without_a_second_source_says_so(dataset: Dataset) -> None:
    off, on = corrective(external="off"), corrective("hybrid", external="second_index")
    found = built(dataset, answered("q1", "x", of=off), answered("q1", "x", of=on))
    (warning,) = of_code(found, "no_corrective_action")
    assert warning.cells == [off.key]
    assert "`external: off`" in warning.message


def test_refused_settings_are_said_once_for_each_model(dataset: Dataset) -> None:
    first = replace(answered("q1", "x"), calls=(call(dropped=("temperature",)), call(dropped=("temperature", "seed"))))
    other = replace(answered("q2", "x"), calls=(call(model="openai:y"),))
    (warning,) = of_code(built(dataset, first, other), "dropped_parameters")
    assert warning.message == "model 'fake:' refuses temperature, seed: it was asked without"


def test_few_questions_cut_replies_fakes_and_withheld_means_are_warnings() -> None:
    fake = row("vanilla", "dense", llm="fake:", truncated=3)
    tiny = row("vanilla", "hybrid", metric=WITHHELD).model_copy(update={"n_questions": 5})
    codes = {one.code: one for one in board(fake, tiny, row()).all_warnings}
    assert list(codes) == ["fake_reader", "few_questions", "low_coverage", "cut_replies"]
    assert codes["fake_reader"].cells == ["vanilla/dense"]
    assert codes["few_questions"].message.startswith(
        "only 5 of 60 questions were asked: with 5 questions no difference"
    )
    assert codes["low_coverage"].figures == {"coverage": pytest.approx(2 / 3)}
    assert codes["cut_replies"].figures == {"questions": 3}


def test_what_is_no_result_is_said_once_for_all_its_cells() -> None:
    from arena.leaderboard.guards import GuardFinding

    stuck = GuardFinding(guard="constant_judge", message="j said 1 of each of 240 answers", metric="answer_accuracy")
    cells = [row(f"s{number}").model_copy(update={"guards": [stuck]}) for number in range(12)]
    said_of = [one for one in notes(board(*cells, row("other"))) if "j said 1" in one]
    assert said_of == [
        "12 cells (s0 + hybrid_rerank, s1 + hybrid_rerank, s2 + hybrid_rerank, ...): answer_accuracy is no result: "
        "j said 1 of each of 240 answers."
    ]


def test_five_questions_can_show_nothing_and_more_can_show_what_is_said() -> None:
    assert "no difference between two cells, however large, can be shown" in size_statement(5)
    assert "likely" in size_statement(1 + 5) or "told apart" in size_statement(6)
    assert "differ by 0.13 or more" in size_statement(100)


def test_every_renderer_shows_every_warning(dataset: Dataset) -> None:
    off = corrective(external="off")
    records = [judged("default", "T1", of=off), answered("q2", "y", ("d2",), of=off), answered("q1", "x", ("d1",))]
    found = built(dataset, *records, indexes=[TRUNCATED])
    lines = warning_lines(found)
    assert {one.code for one in found.all_warnings} >= {
        *("fake_reader", "few_questions", "truncated_passages", "uncalibrated_thresholds", "no_corrective_action"),
    }
    out = io.StringIO()
    print_leaderboard(found, Console(file=out, width=100_000))
    markdown, page = render_markdown(found), said(warnings(found))
    for line in lines:
        assert line in out.getvalue()
        assert line.replace("|", "\\|") in markdown
        assert line.partition(": ")[2] in page


def test_an_older_file_says_what_its_rows_tell() -> None:
    older = board(row(llm="fake:"))
    assert older.warnings is None
    assert [one.code for one in older.all_warnings] == ["fake_reader"]


def test_a_cell_has_its_own_warnings_and_those_of_the_whole_run() -> None:
    every = [ValidityWarning(code="a", message="m"), ValidityWarning(code="b", message="m", cells=["x"])]
    assert [one.code for one in concerning(every, "y")] == ["a"]
    assert [one.code for one in concerning(every, "x")] == ["a", "b"]


def test_the_page_says_how_many_of_the_questions_were_asked(dataset: Dataset) -> None:
    found = built(dataset, answered("q1", "x", ("d1",)), answered("q2", "x", ("d1",)))
    assert found.dataset.n_asked == 2
    assert "Size: 2 of the 5 questions that the data hold were asked." in said(limits(found, marks_of(found), {}))
    older = board(row().model_copy(update={"n_questions": 5}))
    assert "of the 60 questions that the data hold, no cell was asked more than 5" in said(
        limits(older, marks_of(older), {})
    )


def test_where_no_detectable_difference_could_be_estimated_it_is_said_what_so_many_questions_can_show() -> None:
    same = {"answer_f1": (1, 2)}
    without = board(row("a", ranks=same), row("b", ranks=same))
    (note,) = [one for one in notes(without) if "60 questions" in one]
    assert "told apart 4 times in 5 only if they truly differ by 0.16 or more" in note
    assert note in said(limits(without, marks_of(without), {}))
