from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from arena.judges.subject import subject_of
from arena.metrics.case import Case
from arena.report.explorer.columns import Lines, island_chars
from arena.report.explorer.section import explorer_island
from arena.report.question import changed_text, request_text
from arena.report.source import PageSource
from arena.scoring import score_records
from arena.types import Dataset, Retrieval, RunRecord
from tests.samples import answered, small_dataset
from tests.unit.report.explorer.island import Island, integers
from tests.unit.report.explorer.telling_records import PLAIN, RERANKED, looped, telling_records, verdict
from tests.unit.report.pages import page_of


def island_of(source: PageSource) -> Island:
    return Island(explorer_island(source))


@pytest.fixture(scope="module")
def source() -> PageSource:
    return page_of(small_dataset(), telling_records())


@pytest.fixture(scope="module")
def island(source: PageSource) -> Island:
    return island_of(source)


def rounded(number: float | None) -> float | None:
    return None if number is None else float(f"{number:.3g}")


def read_back(retrieval: Retrieval, question: str, gold: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """A retrieval as the island should have it."""
    return {
        "query": None if retrieval.request.query == question else retrieval.request.query,
        "request": request_text(retrieval.request),
        "hits": [
            {
                "doc_id": hit.doc_id,
                "passage_id": hit.passage_id,
                "span": hit.span,
                "rank": hit.rank,
                "score": rounded(hit.score),
                "lanes": {name: (lane.rank, rounded(lane.score)) for name, lane in hit.lanes.items()},
            }
            for hit in (*retrieval.hits, *retrieval.dropped)
        ],
        "n_dropped": len(retrieval.dropped),
        "n_beyond": len(retrieval.beyond),
        "beyond": list(gold),
    }


def test_every_record_comes_back(source: PageSource, island: Island) -> None:
    found = {(one["cell"], one["place"]): one for one in island.records()}
    questions = [one.question_id for one in source.dataset.questions]
    tables = {cell.cell.key: cell for cell in source.table.cells}
    assert len(found) == len(telling_records())
    for record in telling_records():
        one = found[record.cell.key, questions.index(record.question_id)]
        table, text = tables[record.cell.key], source.dataset.questions[one["place"]].text
        usage = table.usage[record.question_id]
        beyond = [("d1", 2)] if record.question_id == "q1" else []
        assert one["outcome"] == record.outcome
        assert one["finding"] == table.failures[record.question_id].failure
        assert (one["hop"], one["missing"]) == (
            table.failures[record.question_id].hop,
            table.failures[record.question_id].doc_id,
        )
        assert one["retrievals"] == [read_back(each, text, beyond) for each in record.retrievals]
        assert one["used"] == list(record.answer.used_ids if record.answer else ())
        assert one["cited"] == list(record.answer.cited_ids if record.answer else ())
        assert one["seconds"][:2] == (rounded(usage.latency_seconds), rounded(record.wall_seconds))
        assert one["scores"] == {
            score.metric: (rounded(score.value), score.reason) for score in table.scores[record.question_id]
        }


def test_decisions_come_back_in_order(island: Island) -> None:
    of_looped = next(one for one in island.records() if one["decisions"] and one["cell"] == RERANKED.key)
    for read, decision in zip(of_looped["decisions"], looped().decisions, strict=True):
        assert (read["node"], read["choice"], read["tier"]) == (decision.node, decision.choice, decision.tier)
        assert (read["score"], read["threshold"]) == (decision.score, decision.threshold)
        assert (read["origin"], read["subject"], read["parts"]) == (
            decision.origin,
            decision.subject,
            dict(decision.parts),
        )
        assert read["changed"] == changed_text(decision)


def test_calls_are_told_by_role(island: Island) -> None:
    grade, generate = next(one for one in island.records() if len(one["roles"]) == 2)["roles"]
    assert (grade["role"], grade["input_tokens"], grade["retries"]) == ("grade", 300, 0)
    assert (generate["role"], generate["calls"], generate["retries"], generate["truncated"]) == ("generate", 1, 1, 1)
    assert generate["input_tokens"] is None  # an attempt that failed may have been billed
    assert (generate["waiting_seconds"], generate["service_seconds"]) == (2.0, 0.25)
    assert generate["usd"] is None


def test_a_technical_failure_keeps_its_words(island: Island) -> None:
    lost = next(one for one in island.records() if one["outcome"] == "failed")
    assert lost["failure"] == ("model", "ModelCallError", "generate: HTTP 500 after 4 attempts")
    assert lost["finding"] == "provider_failed"


def test_flags_and_gold_come_back(island: Island) -> None:
    first = island.records()[0]
    assert first["flags"] == ["warm_up", "truncated"]
    assert first["gold"] == {"d1": "hop 1", "d2": "hop 2"}


def test_equal_retrievals_of_a_question_are_held_once(source: PageSource, island: Island) -> None:
    numbers = island.member(island.contents["chunks"][0][0])
    asked = sum(len(record.retrievals) for record in telling_records())
    assert asked == 6
    assert len(integers(numbers["retrievals"]["question"])) == 4


def test_the_list_has_every_question_and_what_its_cells_came_to(source: PageSource, island: Island) -> None:
    listed = island.listed
    assert listed["id"] == ["q1", "q2", "q3", "q4", "q5"]
    assert listed["gold"][0] == ["Mirelle Ostrand", "Ostrand"]
    assert integers(listed["hops"]) == [2, 1, 1, None, None]
    assert integers(listed["answerable"]) == [1, 1, 1, 1, 0]
    keys = [cell.cell.key for cell in source.table.cells]
    finding = integers(listed["finding"])[keys.index(PLAIN.key)]
    assert finding is not None
    assert listed["findings"][finding] == source.table.cells[keys.index(PLAIN.key)].failures["q1"].failure
    assert integers(listed["outcome"])[2 * len(keys) + keys.index(RERANKED.key)] is None


def test_answers_stand_in_the_order_of_the_list(source: PageSource, island: Island) -> None:
    keys = [cell.cell.key for cell in source.table.cells]
    answers = island.answers()
    assert answers[keys.index(RERANKED.key)] == "Ostrand of Tammerhold"
    assert answers[2 * len(keys) + keys.index(PLAIN.key)] is None
    assert answers[3 * len(keys) + keys.index(PLAIN.key)] == ""


def test_documents_are_written_once_and_whole(source: PageSource, island: Island) -> None:
    assert dict(zip(island.names["ids"], island.texts(), strict=True)) == {
        doc_id: source.documents[doc_id].text for doc_id in island.names["ids"]
    }
    assert sorted(island.names["ids"]) == ["d1", "d2", "d3", "d4"]
    assert island.contents["notes"] == []


def test_a_document_that_is_not_known_has_no_title_and_no_text() -> None:
    record = answered("q2", "1871", ("https://example.org/a", "d1"))
    source = replace(page_of(small_dataset(), [record]), table=score_records([record], small_dataset()))
    island = island_of(source)
    place = island.names["ids"].index("https://example.org/a")
    assert island.names["titles"][place] is None
    assert island.texts()[place] is None


def test_verdicts_on_what_a_record_was_before_are_left_out(source: PageSource) -> None:
    dataset = small_dataset()
    case = Case(looped(), dataset.questions[0], dataset.gold["q1"], source.documents)
    verdicts = [verdict(subject_of(case).sha), verdict("another"), verdict(subject_of(case).sha, of=PLAIN)]
    table = score_records(telling_records(), dataset, verdicts=verdicts, judge_metrics=("faithfulness",))
    judged = island_of(replace(source, table=table, verdicts=lambda: iter(verdicts)))
    found = {(one["cell"], one["place"]): one["verdicts"] for one in judged.records()}
    said = ("faithfulness", 0.5, [("She governs it.", 1.0), ("It is old.", None)])
    assert found[RERANKED.key, 0] == [said]
    assert found[PLAIN.key, 0] == []


def test_the_same_run_gives_the_same_text(source: PageSource) -> None:
    assert explorer_island(source) == explorer_island(source)


def test_a_record_that_was_not_scored_is_passed_over(source: PageSource, island: Island) -> None:
    more = [*telling_records(), answered("q5", "1999")]
    assert len(island_of(replace(source, records=lambda: iter(more))).records()) == len(island.records())


@pytest.mark.parametrize("n", range(9))
def test_the_size_of_a_line_is_known_before_it_is_written(n: int) -> None:
    content = bytes(range(n)) + b"\xff" * n
    lines = Lines()
    written = lines.island({}) + "\n"
    assert lines.add(content) == 1
    assert len(lines.island({})) + 1 - len(written) == island_chars(content)


def test_more_questions_than_a_chunk_holds() -> None:
    dataset = many_questions(150)
    records = [answered(one.question_id, "yes", ("d1",)) for one in dataset.questions]
    island = island_of(page_of(dataset, records))
    assert len(island.contents["chunks"]) == 3
    assert [one["place"] for one in island.records()] == list(range(150))


def many_questions(n: int) -> Dataset:
    small = small_dataset()
    questions = tuple(replace(small.questions[1], question_id=f"m{number}") for number in range(n))
    gold = {one.question_id: replace(small.gold["q2"], question_id=one.question_id) for one in questions}
    return replace(small, questions=questions, gold=gold)


def test_without_records_nothing_is_shown() -> None:
    records: list[RunRecord] = []
    island = island_of(page_of(small_dataset(), records))
    assert (island.contents["n_questions"], island.contents["chunks"], island.records()) == (0, [], [])
