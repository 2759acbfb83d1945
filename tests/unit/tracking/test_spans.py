from __future__ import annotations

from dataclasses import replace

from arena.tracking.events import Event, events_of
from arena.tracking.source import CorpusTexts
from arena.tracking.traces import spans_of
from arena.types import Decision, LaneHit
from tests.samples import DOCUMENTS, GOLD, QUESTIONS, answered, call, failed

TEXTS = CorpusTexts({one.doc_id: one for one in DOCUMENTS}, {one.question_id: one for one in QUESTIONS}, GOLD)
FOUND = {"failure": "incomplete_chain", "f1": 0.5, "usd": None}


def story(texts: CorpusTexts = TEXTS) -> list[Event]:
    return events_of(answered("q1", "Mirelle Ostrand", ("d1", "d3")), FOUND, texts)


def test_the_question_comes_first_with_answer_gold_and_class() -> None:
    question = story()[0]
    assert question.inputs == {"question": "Who governs the town near the source of the Orlen Weir?"}
    assert question.outputs["text"] == "Mirelle Ostrand"
    assert question.outputs["failure_class"] == "incomplete_chain"
    assert question.outputs["gold"] == {"answers": ("Mirelle Ostrand", "Ostrand"), "supporting_ids": ("d1", "d2")}
    assert question.attributes["scores"] == {"failure": "incomplete_chain", "f1": 0.5}
    assert question.period == (0.0, 0.5)
    assert question.error is None


def test_a_retrieval_shows_texts_ranks_and_which_are_gold() -> None:
    retrieval = next(event for event in story() if event.kind == "RETRIEVER")
    first, second = retrieval.outputs
    assert first["page_content"].startswith("Orlen Weir is a river")
    assert first["metadata"] | {"score": None} == {
        "rank": 1,
        "gold": True,
        "title": "Orlen Weir",
        "score": None,
        "doc_uri": "d1",
        "lanes": {"dense": "rank 1, score 1.0"},
    }
    assert (second["metadata"]["rank"], second["metadata"]["gold"]) == (2, False)
    assert retrieval.attributes["gold_not_retrieved"] == ["d2"]


def test_of_a_piece_of_a_document_the_piece_is_shown() -> None:
    record = answered("q1", "Ostrand", ("d1",))
    (retrieval,) = record.retrievals
    piece = replace(retrieval.hits[0], span=(0, 10), lanes={"sparse": LaneHit(3, 2.5)})
    events = events_of(replace(record, retrievals=(replace(retrieval, hits=(piece,)),)), FOUND, TEXTS)
    assert events[1].outputs[0]["page_content"] == "Orlen Weir"


def test_without_the_dataset_ids_are_all_there_is() -> None:
    question, retrieval, *_ = story(CorpusTexts())
    assert question.inputs == {"question": "q1"}
    assert retrieval.outputs[0]["page_content"] == "d1"
    assert "gold" not in retrieval.outputs[0]["metadata"]
    assert retrieval.attributes["gold_not_retrieved"] is None


def test_a_call_has_its_tokens_only_where_all_are_known() -> None:
    known = next(event for event in story() if event.kind == "CHAT_MODEL")
    assert known.attributes["mlflow.chat.tokenUsage"] == {"input_tokens": 100, "output_tokens": 5, "total_tokens": 105}
    unknown = events_of(failed("q1"), {}, TEXTS)[1]
    assert unknown.attributes["mlflow.chat.tokenUsage"] is None
    assert unknown.error == "HTTP 500"


def test_a_decision_shows_score_threshold_and_choice() -> None:
    decision = next(event for event in story() if event.kind == "EVALUATOR")
    assert decision.name == "route: once"
    assert decision.inputs == {"node": "route", "score": 0.4, "threshold": 0.5}
    assert decision.outputs == {"choice": "once", "changed": ("evidence",)}


def test_a_failure_is_an_error_with_its_reason() -> None:
    question = events_of(failed("q2"), {"failure": "provider_failed"}, TEXTS)[0]
    assert question.error == "model: ModelCallError: generate: HTTP 500 after 4 attempts"
    assert question.outputs["failed"]["stage"] == "model"


def test_events_are_in_the_order_of_their_time() -> None:
    record = replace(
        answered("q1", "Ostrand"),
        retrievals=(),
        calls=(call(role="generate", started_seconds=1.0), call(role="grade", started_seconds=0.1)),
        decisions=(Decision("grade", "yes"),),
    )
    assert [event.name for event in events_of(record, {}, TEXTS)] == ["q1", "grade", "grade: yes", "generate"]


def test_spans_hang_under_the_question_in_place_and_time() -> None:
    trace_id, begun = "tr-" + "ab" * 16, 1_700_000_000_000_000_000
    events = story()
    root, *below = spans_of(events, trace_id, begun)
    assert (root.parent_id, root.start_time_ns, root.end_time_ns) == (None, begun, begun + 500_000_000)
    assert {span.parent_id for span in below} == {root.span_id}
    assert len({span.span_id for span in [root, *below]}) == len(events)
    assert [span.start_time_ns for span in below] == sorted({span.start_time_ns for span in below})
    assert root.outputs["text"] == "Mirelle Ostrand"
    assert {span.trace_id for span in below} == {trace_id}
    again = spans_of(story(), trace_id, begun)
    assert [span.to_dict() for span in again] == [span.to_dict() for span in [root, *below]]
