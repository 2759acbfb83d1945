"""What every contestant does with the index, and what it says of its evidence."""

from __future__ import annotations

import pytest

from arena.text import sentence_spans
from arena.types import Task
from tests.contract.contestants import VARIANTS, every, may_retrieve, those
from tests.contract.courses import run, under_every_judge
from tests.contract.shelf import ELSEWHERE, PASSAGES, QUESTION, SETTINGS, SUMMARY, TASK, ShelfRetriever

SENTENCES = [
    passage.text[start:end]
    for passage in (*PASSAGES.values(), *ELSEWHERE.values())
    for start, end in sentence_spans(passage.text)
]


@every
def test_a_query_is_asked_as_everybody_asks_it(entry: str) -> None:
    for course in under_every_judge(entry):
        asked = course.index.asked
        assert all(request == SETTINGS.request(request.query) for request in asked), course.judge
        assert not asked or asked[0].query == QUESTION.text, course.judge


@those(may_retrieve)
def test_it_retrieves_for_some_judge(entry: str) -> None:
    assert any(course.index.asked for course in under_every_judge(entry))


@those(lambda variant: not may_retrieve(variant))
def test_it_retrieves_for_no_judge(entry: str) -> None:
    for course in under_every_judge(entry):
        assert course.index.asked == []
        assert course.answer.retrieved_ids == course.answer.used_ids == (), course.judge


@every
def test_evidence_is_reported_in_three_stages(entry: str) -> None:
    for course in under_every_judge(entry):
        answer = course.answer
        assert set(answer.retrieved_ids) == course.index.brought | course.external.brought, course.judge
        assert set(answer.used_ids) <= set(answer.retrieved_ids), course.judge
        assert set(answer.cited_ids) <= set(answer.used_ids), course.judge
        for ids in (answer.retrieved_ids, answer.used_ids, answer.cited_ids):
            assert len(set(ids)) == len(ids), course.judge


@every
def test_what_it_says_was_shown_stood_in_a_prompt_and_nothing_else_stood_in_the_last(entry: str) -> None:
    for course in under_every_judge(entry):
        shown = course.answer.shown
        assert shown is not None, course.judge
        assert tuple(one.doc_id for one in shown) == course.answer.used_ids, course.judge
        prompts = [_plain(prompt) for _, prompt in course.writer.asked]
        for one in shown:
            _, *texts = (one.text or "").split("\n")
            known = PASSAGES.get(one.doc_id) or ELSEWHERE[one.doc_id]
            assert _plain(" ".join(texts)) == _plain(" ".join(known.text[slice(*span)] for span in one.spans))
            if VARIANTS[entry].spec.needs_model:
                assert all(any(_plain(text) in prompt for prompt in prompts) for text in texts), course.judge
        if "generate" in course.writer.roles():
            last = _plain(course.writer.prompts("generate")[-1])
            told = _plain(" ".join(one.text or "" for one in shown))
            assert all(sentence not in last or sentence in told for sentence in SENTENCES), course.judge


def _plain(text: str) -> str:
    return " ".join(text.split())


@every
def test_the_external_source_is_asked_only_where_settings_say_so(entry: str) -> None:
    asked = any(course.external.asked for course in under_every_judge(entry))
    assert not asked or VARIANTS[entry].uses_external


@every
@pytest.mark.parametrize("task", [TASK, SUMMARY], ids=["short", "summary"])
def test_an_empty_retrieval_is_survived(entry: str, task: Task) -> None:
    for judge in ("always the best label", "never readable"):
        course = run(entry, judge, task=task, index=ShelfRetriever(()), external=ShelfRetriever(()))
        assert course.answer.retrieved_ids == course.answer.used_ids == course.answer.cited_ids == (), judge


@every
def test_a_reranker_that_drops_everything_is_survived(entry: str) -> None:
    emptied = ShelfRetriever((), dropped=tuple(PASSAGES))
    answer = run(entry, "always the worst label", index=emptied, external=ShelfRetriever(())).answer
    assert answer.retrieved_ids == answer.used_ids == ()
