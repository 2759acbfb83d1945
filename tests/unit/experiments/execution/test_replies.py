from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from arena.errors import StrategyError
from arena.metrics import Case, score_record
from arena.metrics.failures import find_failure
from arena.store.journal import RECORD_LINES
from arena.types import IMPORTED_MODE, OWN_MODE, UNMAPPED, Cell, Document
from experiments.execution.foreign import AnswerLine, foreign_record
from experiments.execution.replies import DocumentLookup, NamedDocument, SystemReply, line_of, read_reply
from tests.samples import DOCUMENTS, GOLD, QUESTIONS

LOOKUP = DocumentLookup.of(DOCUMENTS)
D1, D2 = DOCUMENTS[:2]


def ids(*documents: Any) -> list[str]:
    return list(line_of(read_reply({"answer": "x", "retrieved": list(documents)}, answers=True), LOOKUP).retrieved_ids)


def test_documents_are_found_by_id_else_by_text() -> None:
    assert ids("d1", {"doc_id": "d2"}, {"id": "d3", "text": "other words than d3 has"}) == ["d1", "d2", "d3"]
    assert ids(D1.text, {"text": f"  {D2.text}\n"}, {"content": f"{D1.title}\n{D1.text}"}) == ["d1", "d2", "d1"]
    assert ids({"id": "chunk-7", "text": D1.text[6:40]}, {"page_content": D2.text[3:30]}) == ["d1", "d2"]


def test_what_is_not_found_keeps_its_place() -> None:
    found = ids("d9", {"text": "Nobody's page."}, "d1", {"id": "x" * 500})
    assert found[2] == "d1"
    assert all(one.startswith(UNMAPPED) for one in (found[0], found[1], found[3]))
    assert found[0] == f"{UNMAPPED}d9"
    assert len(set(found)) == 4
    assert max(map(len, found)) < 120


def test_a_text_of_several_documents_is_nobodys_unless_a_title_tells() -> None:
    twins = (Document("a", "North", "It lies on the river."), Document("b", "South", "It lies on the river."))
    lookup = DocumentLookup.of(twins)
    assert lookup.id_of(NamedDocument(text="It lies on the river.")).startswith(UNMAPPED)
    assert lookup.id_of(NamedDocument(text="It lies on the river.", title="South")) == "b"
    assert lookup.id_of(NamedDocument(text="lies on the", title="North")) == "a"
    longer = DocumentLookup.of((*twins[:1], Document("c", "All", "It lies on the river. It is wide.")))
    assert longer.id_of(NamedDocument(text="It lies on the river.")) == "a"


@dataclass
class Record:
    answer: str
    used: list[dict[str, str]]


class Model(BaseModel):
    answer: int
    abstained: bool = False


def test_a_reply_is_a_text_a_mapping_a_dataclass_or_a_model() -> None:
    assert read_reply("Brandt", answers=True).answer == "Brandt"
    assert read_reply({"answer": "Brandt", "anything": object()}, answers=True).answer == "Brandt"
    assert read_reply(Record("Brandt", [{"id": "d1"}]), answers=True).used == (NamedDocument(id="d1"),)
    assert read_reply(Model(answer=1969), answers=True).answer == "1969"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "gave back a NoneType"),
        ([], "gave back a list"),
        ({}, "none of answer, abstained and error, but nothing"),
        ({"anwser": "x"}, "but 'anwser'"),
        ({"answer": ["x"]}, "answer: Input should be a valid string"),
        ({"answer": "x", "documents": 3}, "documents: Input should be a valid list"),
        ({"answer": "x", "documents": [{"score": 1.0}]}, r"documents\.0: a document needs an id or a text"),
        ({"answer": "x", "used": [None]}, r"used\.0"),
        ({"answer": "x", "abstained": "no"}, "abstained: Input should be a valid boolean"),
        ({"answer": "x", "calls": 2}, "calls: Input should be a valid list"),
    ],
)
def test_nonsense_is_named(value: object, told: str) -> None:
    with pytest.raises(StrategyError, match=told):
        read_reply(value, answers=True)


def test_what_is_not_said_is_unknown_and_what_is_no_count_says_nothing() -> None:
    line = line_of(read_reply("x", answers=True), LOOKUP)
    assert not line.tells_evidence
    assert (line.input_tokens, line.output_tokens, line.calls, line.shown) == (None,) * 4
    odd = read_reply({"answer": "x", "input_tokens": -3, "output_tokens": "many", "retrieved": []}, answers=True)
    line = line_of(odd, LOOKUP)
    assert line.tells_evidence
    assert line.retrieved_ids == ()
    assert (line.input_tokens, line.output_tokens) == (None, None)


def test_scores_rank_only_where_all_are_numbers() -> None:
    def scores(*given: Any) -> tuple[float, ...] | None:
        documents = [{"id": one.doc_id, "score": score} for one, score in zip(DOCUMENTS, given, strict=False)]
        return line_of(read_reply({"answer": "x", "retrieved": documents}, answers=True), LOOKUP).scores

    assert scores(2, 1.5) == (2.0, 1.5)
    assert scores(2, None) is None
    assert scores(2, float("nan")) is None
    assert scores("2", 1) is None


def test_what_was_shown_is_where_it_stands_else_its_text_and_unknown_without_one() -> None:
    def shown(*used: dict[str, str]) -> Any:
        return line_of(read_reply({"answer": "x", "used": list(used)}, answers=True), LOOKUP).shown

    (one,) = shown({"id": "d1", "text": D1.text[:10]}, {"id": "d1", "text": D1.text[20:]})
    assert one.spans == ((0, 10), (20, len(D1.text)))
    (one,) = shown({"id": "d1", "text": "a summary of it", "title": "T"})
    assert (one.spans, one.text) == ((), "T\na summary of it")
    assert shown({"id": "d1"}, {"id": "d2", "text": D2.text}) is None
    assert shown() == ()


def test_an_answer_that_declines_abstains_unless_the_system_says_otherwise() -> None:
    assert line_of(read_reply("I don't know.", answers=True), LOOKUP).abstained
    assert line_of(read_reply("No idea at all", answers=True), LOOKUP, ("no idea",)).abstained
    assert not line_of(read_reply({"answer": "I don't know.", "abstained": False}, answers=True), LOOKUP).abstained


def test_half_a_character_does_not_get_into_a_record() -> None:
    assert read_reply("a\ud800b", answers=True).answer == "a?b"
    assert ids({"id": "\udfff"}) == [f"{UNMAPPED}?"]


@pytest.mark.parametrize("mode", [IMPORTED_MODE, OWN_MODE])
def test_nothing_retrieved_scores_nothing_and_nothing_said_is_missing(mode: str) -> None:
    """Whichever way a foreign system came into the run."""

    def scores(**said: Any) -> tuple[float | None, str | None, str]:
        line = AnswerLine(question_id="q2", answer="1900", **said)
        record = foreign_record(Cell("theirs", mode, "unstated"), QUESTIONS[1], line, LOOKUP.documents)
        case = Case(record, QUESTIONS[1], GOLD["q2"], LOOKUP.documents)
        found = {score.metric: score for score in score_record(case)}
        recall = found["retrieval_recall"]
        assert found["answer_f1"].value is not None
        return recall.value, recall.reason, find_failure(case, found).failure

    assert scores() == (None, "not_reported", "unexplained")
    assert scores(used_ids=None) == (None, "not_reported", "unexplained")
    assert scores(retrieved_ids=()) == (0.0, None, "index_miss")
    assert scores(used_ids=("d1",))[0] == 1.0


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["d1", D1.text])
ANYTHING = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "text", "title", "score", "role", "model"]), inner, max_size=3)
    ),
    max_leaves=6,
)
FIELDS = st.sampled_from([*SystemReply.model_fields, "documents", "used_ids"])


@given(ANYTHING | st.dictionaries(FIELDS, ANYTHING, max_size=4).map(lambda fields: {"answer": "x", **fields}))
def test_whatever_is_given_back_is_read_or_named(value: object) -> None:
    """What is read can be written down and comes back as it was."""
    try:
        line = line_of(read_reply(value, answers=True), LOOKUP)
    except StrategyError:
        return
    record = foreign_record(Cell("theirs", OWN_MODE, "unstated"), QUESTIONS[1], line, LOOKUP.documents)
    written = RECORD_LINES.adapter.dump_json(record)
    assert RECORD_LINES.adapter.validate_json(written) == record
