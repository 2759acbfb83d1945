"""What the reader saw is a record: everything that looks at texts reads that, and nothing else of the document."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import pytest

from arena.errors import StrategyError
from arena.judges.subject import settled, subject_of
from arena.metrics import METRICS, Case
from arena.metrics import case as reasons
from arena.protocols import RetrievalSettings, Strategy, Tools
from arena.runner import Contestant, run_one
from arena.runner.question import sound_attempt
from arena.store import journal
from arena.store.journal import RECORD_LINES, JournalWriter
from arena.text import sentence_spans
from arena.types import (
    LIVE_MODE,
    Answer,
    Attempt,
    Cell,
    Document,
    Gold,
    GoldSentence,
    Passage,
    Question,
    Retrieval,
    RetrievalRequest,
    RunRecord,
    ShownDocument,
    Task,
)
from experiments.execution.evidence import SharedIndex
from strategies.corrective import CORRECTIVE, CorrectiveParams
from strategies.nodes import answer_from, shown_documents
from tests.samples import answered
from tests.unit.judges.court import case_of
from tests.unit.llm.scripted_model import ScriptedModel, saying
from tests.unit.strategies.corrective.shelf import Shelf, WordEvaluator

TEXT = (
    "Gold lies under Tammerhold. Gold was found by Ode Varn. Gold paid for the walls. "
    "Mud fills the moat. Mud covers the road. The market was opened by Selm Quarrie."
)
DOCUMENT = Document("d", "Tammerhold", TEXT)
PASSAGE = Passage("d", "d", "Tammerhold", TEXT, 0, len(TEXT))
THIRD = sentence_spans(TEXT)[2][1]
SHOWN = "Tammerhold\nGold lies under Tammerhold.\nGold was found by Ode Varn.\nGold paid for the walls."
QUESTION = Question("q", "Who opened the market?", "single_hop", 1)
CELL = Cell("corrective", "dense", "scripted:")


@dataclass
class LiveShelf(Shelf):
    """A shelf as of a live search: nobody keeps its texts."""

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        found = await Shelf.retrieve(self, request)
        return replace(found, request=replace(found.request, mode=LIVE_MODE))


def case(record: RunRecord) -> Case:
    return Case(record, QUESTION, Gold("q", ("Selm Quarrie",), ("d",)), {"d": DOCUMENT})


def corrected(says: str, found: Sequence[Passage] = (), **scores: float) -> RunRecord:
    """Corrective over `DOCUMENT`, strip by strip, with an evaluator that scores by words."""
    params = CorrectiveParams.model_validate(
        {"evaluator": "t5", "checkpoint": "folder", "strip_sentences": 1, "external": "live" if found else "off"}
    )
    contestant = Contestant(
        CELL,
        CORRECTIVE.build(params),
        SharedIndex(Shelf([PASSAGE])),
        RetrievalSettings("dense", k=5),
        ScriptedModel(answer=lambda request: saying("keyword" if request.role == "rewrite" else says)),
        (QUESTION,),
        SharedIndex(LiveShelf(found)) if found else None,
        WordEvaluator(scores),
    )
    return anyio.run(run_one, contestant, QUESTION)


def test_a_claim_from_a_sentence_that_was_filtered_away_is_unfaithful() -> None:
    record = corrected("The market was opened by Selm Quarrie.", Gold=1.0)
    assert record.answer is not None
    assert record.answer.used_ids == ("d",)
    assert record.answer.shown == (ShownDocument("d", tuple(sentence_spans(TEXT)[:3])),)
    seen = case(record)
    assert seen.shown == {"d": SHOWN}
    assert METRICS["lexical_faithfulness"].score(seen).value == 0.0
    assert subject_of(seen).texts == {"d": SHOWN}
    assert settled(seen, "faithfulness") is None  # a judge is asked, and about these three sentences


def test_a_document_whose_gold_sentence_was_filtered_away_is_shown_and_its_evidence_is_not() -> None:
    spans = sentence_spans(TEXT)
    seen = case(corrected("Selm Quarrie", Gold=1.0))
    for places, expected in (((5,), 0.0), ((0, 5), 0.5), ((0, 2), 1.0)):
        gold = replace(seen.gold, sentences=tuple(GoldSentence("d", *spans[place]) for place in places))
        assert METRICS["sentence_recall"].score(replace(seen, gold=gold)).value == expected
        assert METRICS["retrieval_recall"].score(replace(seen, gold=gold)).value == 1.0
    assert METRICS["sentence_recall"].score(seen).reason == reasons.NO_SENTENCES


def test_a_gold_sentence_is_found_in_a_kept_text_and_over_two_pieces() -> None:
    seen = case(corrected("Selm Quarrie", Gold=1.0))
    assert seen.record.answer is not None
    start, end = sentence_spans(TEXT)[5]
    gold = replace(seen.gold, sentences=(GoldSentence("d", start, end),))
    for shown, expected in (
        (ShownDocument("d", text=f"T\nSo it is: {TEXT[start:end]}".replace("market", "market\n")), 1.0),
        (ShownDocument("d", text="T\nThe market"), 0.0),
        (ShownDocument("d", ((start + 9, end), (0, start + 12))), 1.0),
        (ShownDocument("d", ((start + 9, end), (0, start + 5))), 0.0),
    ):
        record = replace(seen.record, answer=replace(seen.record.answer, shown=(shown,)))
        assert METRICS["sentence_recall"].score(replace(seen, record=record, gold=gold)).value == expected
    record = replace(seen.record, answer=replace(seen.record.answer, shown=None))
    assert METRICS["sentence_recall"].score(replace(seen, record=record, gold=gold)).reason == reasons.TEXT_UNKNOWN


def test_a_claim_from_a_sentence_that_was_kept_is_faithful() -> None:
    record = corrected("Ode Varn found gold [1]", Gold=1.0)
    assert METRICS["lexical_faithfulness"].score(case(record)).value == 1.0
    assert METRICS["lexical_citation_precision"].score(case(record)).value == 1.0


def test_what_a_live_search_brought_is_kept_as_text() -> None:
    web = Passage("web#1", "web", "Rolls", "Silver rolls name Selm Quarrie. Mud is here too.", 0, 48)
    record = corrected("Selm Quarrie", [web], Silver=1.0)
    assert record.answer is not None
    assert record.answer.shown == (
        ShownDocument("web", text="Rolls\nSilver rolls name Selm Quarrie. Mud is here too."),
    )
    assert METRICS["lexical_faithfulness"].score(case(record)).value == 1.0


def sound(shown: tuple[ShownDocument, ...] | None, brought: Sequence[Passage] = (PASSAGE,)) -> Answer:
    ids = tuple(one.doc_id for one in shown or ())
    answer = Answer("x", abstained=False, retrieved_ids=ids, used_ids=ids, shown=shown)
    hits = anyio.run(Shelf([PASSAGE]).retrieve, RetrievalRequest("q", "dense", 5))
    return sound_attempt(Attempt(answer), (hits,), lambda ids: [one for one in brought if one.doc_id in ids]).answer


def test_a_text_that_its_spans_give_is_left_to_them_and_another_stays() -> None:
    whole = ((0, len(TEXT)),)
    assert sound(shown_documents([PASSAGE])).shown == (ShownDocument("d", whole),)
    rewritten = replace(PASSAGE, text="Selm Quarrie opened it.")
    assert sound(shown_documents([rewritten])).shown == (
        ShownDocument("d", text="Tammerhold\nSelm Quarrie opened it."),
    )
    cut = replace(PASSAGE, text=TEXT[:20], end_char=20)
    assert sound(shown_documents([cut])).shown == (ShownDocument("d", ((0, 20),)),)
    assert sound(shown_documents([PASSAGE]), brought=()).shown == (ShownDocument("d", text=f"Tammerhold\n{TEXT}"),)
    assert sound(None).shown is None


def test_two_pieces_of_a_document_are_two_spans_under_one_title() -> None:
    pieces = [
        replace(PASSAGE, passage_id=f"d#{n}", text=TEXT[n : n + 30], start_char=n, end_char=n + 30) for n in (40, 0)
    ]
    (one,) = shown_documents([*pieces, pieces[0]])
    assert one == ShownDocument("d", ((40, 70), (0, 30)), f"Tammerhold\n{TEXT[40:70]}\n{TEXT[:30]}")
    assert sound((one,), brought=pieces).shown == (ShownDocument("d", ((40, 70), (0, 30))),)


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (
            (ShownDocument("d", ((0, 9999),)),),
            "spans [(0, 9999)] of 'd', which no retrieval brought, and no text",
        ),
        ((ShownDocument("d"),), "names spans [] of 'd'"),
        ((ShownDocument("d", ((9, 3),)),), "names spans [(9, 3)]"),
    ],
)
def test_spans_are_not_taken_on_trust(shown: tuple[ShownDocument, ...], said: str) -> None:
    with pytest.raises(StrategyError) as raised:
        sound(shown)
    assert said in str(raised.value)


def test_shown_and_used_ids_agree() -> None:
    answer = Answer("x", abstained=False, retrieved_ids=("d",), used_ids=("d",), shown=())
    hits = anyio.run(Shelf([PASSAGE]).retrieve, RetrievalRequest("q", "dense", 5))
    with pytest.raises(StrategyError, match=r"shown is of \[\], and its used_ids are \['d'\]"):
        sound_attempt(Attempt(answer), (hits,), lambda ids: ())


def test_an_answer_of_no_passages_was_shown_nothing() -> None:
    assert answer_from((), {}, "x", abstained=False).shown == ()


class OldPlugin(Strategy):
    """A strategy of before `shown`: it names documents only."""

    async def attempt(self, task: Task, tools: Tools) -> Attempt:
        await tools.retriever.retrieve(tools.settings.request(task.question))
        return Attempt(Answer("Selm Quarrie", abstained=False, retrieved_ids=("d",), used_ids=("d",)))


def test_a_strategy_that_names_documents_only_has_an_unknown_text() -> None:
    contestant = Contestant(CELL, OldPlugin(), SharedIndex(Shelf([PASSAGE])), RetrievalSettings("dense", k=5), None, ())
    seen = case(anyio.run(run_one, contestant, QUESTION))
    assert seen.shown is None
    assert METRICS["lexical_faithfulness"].score(seen).reason == reasons.TEXT_UNKNOWN
    score = settled(seen, "context_recall")
    assert score is not None
    assert (score.value, score.reason) == (None, reasons.TEXT_UNKNOWN)


def _third_schema(record: RunRecord, path: Path) -> RunRecord:
    """`record` as a journal of the third schema has it, read back."""
    with JournalWriter(path, RECORD_LINES) as writer:
        writer.append(record)
    (line,) = path.read_bytes().splitlines()
    rest = line[line.index(b'"run"') :].replace(b',"shown":' + _json(record), b"")
    assert b'"shown"' not in rest
    path.write_bytes(b'{"schema_version":3,"checksum":"%08x",' % zlib.crc32(rest) + rest + b"\n")
    (entry,) = journal.entries(path, RECORD_LINES)
    return entry


def _json(record: RunRecord) -> bytes:
    shown: Mapping[str, object] = json.loads(RECORD_LINES.adapter.dump_json(record))["answer"]["shown"]
    return json.dumps(shown, separators=(",", ":")).encode()


def test_a_journal_of_the_third_schema_is_read_and_says_that_it_does_not_know(tmp_path: Path) -> None:
    new = answered("q1", "Mirelle Ostrand", ("d1", "d2"))
    old = _third_schema(new, tmp_path / "records.jsonl")
    assert new.answer is not None
    assert old == replace(new, answer=replace(new.answer, shown=None))
    assert case_of(old).shown is None
    assert settled(case_of(old), "faithfulness") is not None
    # Verdicts that look at no text count on: they are found by what was judged, as it was told apart then.
    assert settled(case_of(old), "answer_accuracy") is None
    assert subject_of(case_of(old)).sha == subject_of(case_of(new)).sha
