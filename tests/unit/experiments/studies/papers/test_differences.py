"""Settings that are all the paper's are comparable; each one changed alone is named, and makes it reference only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from arena.leaderboard.build import Leaderboard
from arena.leaderboard.cells import CellSummary
from arena.leaderboard.guards import GuardFinding
from arena.store import RunStore
from arena.types import Cell
from experiments.studies.papers.compare import OurRun, badge_of, bare_name, settings_beside
from experiments.studies.papers.settings import (
    Corpus,
    Counterpart,
    Measure,
    PaperRetriever,
    PaperSettings,
    Questions,
    Reader,
)
from tests.unit.experiments.studies.papers.paper_cells import board, figure, summary

PAPER = PaperSettings(
    (Counterpart("self_rag"),),
    Reader("Tern-7B", frozenset({"tern-7b"}), frozenset({"tern-latest"})),
    PaperRetriever("Gull, dense", 10, "10", frozenset({"gull-base"})),
    Corpus("5,000 paragraphs", 5_000),
    Questions("all 200 questions", 200, "all"),
    Measure("exact match", "answer_em"),
    trained=True,
    source="a paper made up for this test",
)
CELL = Cell("self_rag", "dense", "openai:birds/Tern-7B", {"embedder": "sea/gull-base", "k": 10})
ROW = summary(CELL, {"answer_em": figure(0.3, 200, 0.25, 0.35)}, 200, 1.0, fidelity_tier="T2")
BOARD = board("jsonl:popqa", 5_000, 200, ROW)


class Change(NamedTuple):
    """What is another than the paper's, and the name of the one setting that then differs."""

    setting: str
    paper: Callable[[PaperSettings], PaperSettings] = lambda paper: paper
    row: Callable[[CellSummary], CellSummary] = lambda row: row
    board: Callable[[Leaderboard], Leaderboard] = lambda made: made


def of_row(**fields: object) -> Callable[[CellSummary], CellSummary]:
    return lambda row: row.model_copy(update=fields)


def of_params(**params: object) -> Callable[[CellSummary], CellSummary]:
    return lambda row: row.model_copy(update={"params": {**row.params, **params}})


def of_dataset(**fields: object) -> Callable[[Leaderboard], Leaderboard]:
    return lambda made: made.model_copy(update={"dataset": made.dataset.model_copy(update=fields)})


def of_paper(**fields: object) -> Callable[[PaperSettings], PaperSettings]:
    return lambda paper: replace(paper, **fields)  # type: ignore[arg-type]


INVALID = GuardFinding(guard="constant_answer", metric="answer_em", message="a constant answer")
CHANGES = (
    Change("reader", row=of_row(llm="openai:birds/Tern-13B")),
    Change("retriever", row=of_params(embedder="sea/auk-base")),
    Change("retriever", row=of_row(retrieval_mode="hybrid")),
    Change("retriever", paper=of_paper(retriever=PaperRetriever("BM25", 10, "10"))),
    Change("k", row=of_params(k=5)),
    Change("k", paper=of_paper(retriever=PaperRetriever("Gull", None, "5 or 10", frozenset({"gull-base"})))),
    Change("corpus", board=of_dataset(n_documents=4_999)),
    Change("corpus", row=of_params(chunk_tokens=100)),
    Change("corpus", row=of_params(external_corpus="ds_1")),
    Change("corpus", paper=of_paper(corpus=Corpus("5,000 paragraphs, and the web", 5_000, web=True))),
    Change("question set", row=of_row(n_questions=199)),
    Change("question set", board=of_dataset(n_questions=900)),
    Change("metric", paper=of_paper(measure=Measure("substring", "answer_em", "exact match"))),
    Change("metric", paper=of_paper(measure=Measure("token F1", "answer_f1"))),
    Change("metric", row=of_row(guards=[INVALID])),
    Change("tier", row=of_row(fidelity_tier="T1")),
    Change("tier", row=of_row(fidelity_tier=None)),
    Change("tier", paper=of_paper(trained=False)),
)


def run_of(made: Leaderboard) -> OurRun:
    return OurRun(RunStore(Path("no such run")), made)


def test_all_settings_alike_are_comparable() -> None:
    settings = settings_beside(PAPER, ROW, run_of(BOARD))
    assert [one.name for one in settings] == [
        *("reader", "retriever", "k", "corpus", "question set", "metric", "tier"),
    ]
    assert {one.relation for one in settings} == {"equal"}
    assert badge_of(settings) == "comparable"


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.setting)
def test_one_setting_changed_is_named_and_makes_it_reference_only(change: Change) -> None:
    settings = settings_beside(change.paper(PAPER), change.row(ROW), run_of(change.board(BOARD)))
    assert [one.name for one in settings if one.relation != "equal"] == [change.setting]
    assert badge_of(settings) == "reference only"
    (named,) = [str(one) for one in settings if one.relation == "differs"]
    assert named.startswith(f"{change.setting}: ")
    assert " / " in named


@pytest.mark.parametrize(
    ("setting", "paper", "row"),
    [
        ("reader", PAPER, of_row(llm="openai:birds/Tern-7B-AWQ")),
        ("reader", PAPER, of_row(llm="local:models/Tern-7B-Q4_K_M.gguf")),
        ("reader", PAPER, of_row(llm="openai:tern-latest")),
        ("corpus", replace(PAPER, corpus=Corpus("its paragraphs", None)), of_row()),
        ("tier", PAPER, of_params(policy="router")),
        ("question set", replace(PAPER, questions=Questions("200 of them", 200, "unsaid")), of_row()),
        ("question set", replace(PAPER, questions=Questions("200 of them", 200, "drawn")), of_row()),
    ],
)
def test_what_nobody_says_is_near_and_never_comparable(
    setting: str, paper: PaperSettings, row: Callable[[CellSummary], CellSummary]
) -> None:
    settings = settings_beside(paper, row(ROW), run_of(BOARD))
    assert [one.name for one in settings if one.relation != "equal"] == [setting]
    assert badge_of(settings) == "near"
    assert "not known whether the same" in "".join(map(str, settings))


def test_without_retrieval_on_either_side_there_is_nothing_to_differ_in() -> None:
    paper = replace(PAPER, retriever=None, corpus=None, trained=False)
    row = ROW.model_copy(update={"retrieval_mode": "none", "retrievals_per_question": 0.0, "fidelity_tier": None})
    assert badge_of(settings_beside(paper, row, run_of(BOARD))) == "comparable"
    alone = settings_beside(paper, ROW.model_copy(update={"fidelity_tier": None}), run_of(BOARD))
    assert [one.name for one in alone if one.relation == "differs"] == ["retriever", "k", "corpus"]


def test_a_kind_of_questions_has_its_own_figure_and_number() -> None:
    paper = replace(
        PAPER,
        questions=Questions("40 single_hop questions", 40, "all"),
        measure=Measure("exact match", "answer_em", kind="single_hop"),
    )
    kinds = {"kind": {"single_hop": {"answer_em": figure(0.5, 40)}}}
    row = summary(CELL, {"answer_em": figure(0.3, 200)}, 200, 1.0, fidelity_tier="T2", breakdown=kinds)
    assert badge_of(settings_beside(paper, row, run_of(BOARD))) == "comparable"
    names = [one.name for one in settings_beside(paper, ROW, run_of(BOARD)) if one.relation == "differs"]
    assert names == ["question set", "metric"]


def test_a_smaller_corpus_is_said_to_be_easier() -> None:
    smaller = of_dataset(n_documents=40)(BOARD)
    corpus = next(one for one in settings_beside(PAPER, ROW, run_of(smaller)) if one.name == "corpus")
    assert str(corpus) == "corpus: 5,000 paragraphs / 40 documents, fewer and so easier to search"


@pytest.mark.parametrize(
    ("model", "name", "quantised"),
    [
        ("openai:google/flan-t5-xl", "flan-t5-xl", False),
        ("openai:gpt-3.5-turbo-instruct", "gpt-3.5-turbo-instruct", False),
        ("openai:selfrag/selfrag_llama2_7b", "selfrag_llama2_7b", False),
        ("local:C:\\models\\Llama-3.1-8B-Q8_0.gguf", "llama-3.1-8b", True),
        ("openai:meta-llama/Llama-3.1-8B-FP8", "llama-3.1-8b", True),
        ("fake:", "fake:", False),
        ("all-minilm-l6-v2", "all-minilm-l6-v2", False),
        ("intfloat/e5-base-v2@f52bf8ec8c7124536f0efb74aca902b2995e5bcd", "e5-base-v2", False),
    ],
)
def test_a_model_is_known_by_its_bare_name(model: str, name: str, quantised: bool) -> None:
    assert bare_name(model) == (name, quantised)
