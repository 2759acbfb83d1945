"""The figures against what their own papers say of them."""

from __future__ import annotations

from collections import defaultdict
from math import fsum

import pytest

from experiments.studies.papers.numbers import PublishedNumber, published_numbers
from experiments.studies.papers.settings import NoCounterpart, PaperSettings, settings_of

COUNTS = {
    "MuSiQue": (398, 2590, 368),
    "QuALITY": (454, 461, 283),
    "UltraDomain-Legal": (370, 526, 381),
    "GraphRAG-Bench Medical": (1098, 509, 289),
}
"""RAGRouter-Bench: single-hop, multi-hop and summary questions."""


def one(paper: str, table: str, dataset: str, system: str, llm: str, metric: str) -> PublishedNumber:
    wanted = (paper, table, dataset, system, llm, metric)
    (found,) = [
        number
        for number in published_numbers()
        if (number.paper, number.table, number.dataset, number.system, number.llm, number.metric) == wanted
    ]
    return found


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("Self-RAG", "Table 2", "PopQA", "Self-RAG", "Self-RAG Llama2-7B", "accuracy (gold string contained)"), 54.9),
        (("CRAG", "Table 1 (v3)", "PopQA", "CRAG", "LLaMA2-hf-7b", "accuracy"), 54.9),
        (("CRAG", "Table 1 (pre-v3)", "PopQA", "CRAG", "LLaMA2-hf-7b", "accuracy"), 39.8),
        (("Adaptive-RAG", "Table 2", "MuSiQue", "Adaptive-RAG", "FLAN-T5-XL (3B)", "F1"), 31.8),
        (("Adaptive-RAG", "Table 8", "MuSiQue", "Multi-step (IRCoT)", "GPT-3.5-turbo-instruct", "Step"), 3.41),
        (("IRCoT", "Table 4", "MuSiQue", "IRCoT + Direct reader", "Flan-T5-XXL", "F1"), 30.8),
        (("RAGRouter-Bench", "Table 2", "MuSiQue", "NaiveRAG", "DeepSeek-V3", "LLM-judge correct, average"), 26.4),
    ],
)
def test_a_cell_is_what_the_table_prints(place: tuple[str, ...], value: float) -> None:
    assert one(*place).value == value


def test_the_means_over_six_datasets_are_those_of_table_1_or_doubted() -> None:
    parts: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for number in published_numbers():
        if number.paper == "Adaptive-RAG" and number.table in ("Table 2", "Table 7", "Table 8"):
            parts[number.system, number.llm, number.metric].append(number.value)
    checked = doubted = 0
    for number in published_numbers():
        if (number.paper, number.table) == ("Adaptive-RAG", "Table 1"):
            six = parts[number.system, number.llm, number.metric]
            off = abs(fsum(six) / 6 - number.value)
            assert len(six) == 6
            assert (off > 0.0101) == (number.suspicious is not None)
            assert off < 0.05
            checked, doubted = checked + 1, doubted + (number.suspicious is not None)
            if number.metric != "Time":
                assert number.suspicious is None
    assert (checked, doubted) == (105, 5)


def test_the_averages_of_ragrouter_are_weighted_by_questions() -> None:
    rows: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for number in published_numbers():
        if (number.paper, number.table) == ("RAGRouter-Bench", "Table 2") and number.metric.startswith("LLM-judge"):
            kind = number.metric.removeprefix("LLM-judge correct, ").partition(" ")[0]
            rows[number.dataset, number.system, number.llm][kind] = number.value
    whole = {place: row for place, row in rows.items() if len(row) == 4}
    assert len(whole) == 32
    for (dataset, _, _), row in whole.items():
        of_kinds = zip(COUNTS[dataset], (row["factual"], row["reasoning"], row["summary"]), strict=True)
        mean = fsum(count * value for count, value in of_kinds) / sum(COUNTS[dataset])
        assert mean == pytest.approx(row["average"], abs=0.07)


def test_what_is_doubted_is_marked() -> None:
    def why(*place: str) -> str:
        return one("RAGRouter-Bench", *place).suspicious or ""

    llama, deepseek, judged = "LLaMA-3.1-8B", "DeepSeek-V3", "LLM-judge correct, average"
    for llm in (llama, deepseek):
        for dataset in COUNTS:
            assert "0 by construction" in why("Table 2", dataset, "LLM-only", llm, judged)
            assert "GPT-4o-mini" in why("Table 2", dataset, "NaiveRAG", llm, judged)
    assert "implausibly low" in why("Table 13", "MuSiQue", "IterativeRAG (Graph)", deepseek, "semantic F1 (BERTScore)")
    for metric in ("faithfulness hard", "faithfulness soft"):
        assert "swapped" in why("Table 14", "MuSiQue", "HybridRAG", llama, metric)
        assert not why("Table 14", "MuSiQue", "NaiveRAG", llama, metric)
    old = one("CRAG", "Table 1 (pre-v3)", "PubHealth", "CRAG", "LLaMA2-hf-7b", "accuracy")
    assert old.suspicious == "version 3 of the paper prints 59.5"


def test_every_figure_has_a_source_and_a_unit() -> None:
    assert len(published_numbers()) == 1633
    assert all(number.source and number.unit for number in published_numbers())
    assert len({repr(number) for number in published_numbers()}) == 1633


def test_percentages_and_fractions_become_ratios() -> None:
    place = ("Adaptive-RAG", "Table 2", "MuSiQue", "Single-step", "FLAN-T5-XL (3B)")
    assert one(*place, "EM").ratio == (13.8 / 100, "ratio")
    assert one(*place, "Step").ratio == (1.0, "steps/query")
    readme = next(number for number in published_numbers() if number.unit == "fraction")
    assert readme.ratio == (readme.value, "ratio")


def test_every_figure_has_settings_a_reason_or_is_no_result() -> None:
    """Any figure can be asked for; those of a system the arena has carry all that the badge needs."""
    found = [(number, settings_of(number)) for number in published_numbers()]
    kept = [(number, settings) for number, settings in found if isinstance(settings, PaperSettings)]
    assert {number.paper for number, _ in kept} == {
        "Self-RAG",
        "CRAG",
        "Adaptive-RAG",
        "IRCoT",
        "RAGRouter-Bench",
        "FlashRAG (third-party reproduction)",
    }
    for number, settings in kept:
        assert number.unit in ("%", "steps/query")
        assert (settings.retriever is None) == (settings.corpus is None)
        assert settings.source
        assert settings.counterparts
    assert not any(number.metric == "Time" for number, _ in kept)
    reasons = {settings.reason for _, settings in found if isinstance(settings, NoCounterpart)}
    assert all(len(reason) > 20 for reason in reasons)
