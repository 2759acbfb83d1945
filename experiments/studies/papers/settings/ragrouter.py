"""RAGRouter-Bench: arXiv 2602.00296, section 4 and appendix, table 2."""

from __future__ import annotations

from experiments.studies.papers.numbers import PublishedNumber
from experiments.studies.papers.settings.shape import (
    Corpus,
    Counterpart,
    Measure,
    NoCounterpart,
    PaperSettings,
    Questions,
    Reader,
    Retriever,
    SettingsOf,
)

PAPER = "RAGRouter-Bench"
_SOURCE = "arXiv 2602.00296, section 4 and appendix"
_READERS = {
    "DeepSeek-V3": Reader("DeepSeek-V3", frozenset({"deepseek-v3"}), frozenset({"deepseek-chat"})),
    "LLaMA-3.1-8B": Reader(
        "LLaMA-3.1-8B",
        frozenset({"llama-3.1-8b", "meta-llama-3.1-8b"}),
        frozenset({"llama-3.1-8b-instruct", "meta-llama-3.1-8b-instruct"}),
    ),
}
_COUNTERPARTS = {"LLM-only": (Counterpart("closed_book"),), "NaiveRAG": (Counterpart("vanilla"),)}
_WHY_NOT = {
    "GraphRAG": "it ranks the nodes of a knowledge graph, which the arena does not build",
    "HybridRAG": "it fuses a knowledge graph's ranking, which the arena does not build",
    "IterativeRAG": "it asks sub-questions of its own, which no strategy here does",
}
_COUNTS = {
    "MuSiQue": {None: 3_356, "multi_hop": 2_590, "single_hop": 398, "summary": 368},
    "QuALITY": {None: 1_198, "multi_hop": 461, "single_hop": 454, "summary": 283},
    "UltraDomain-Legal": {None: 1_277, "multi_hop": 526, "single_hop": 370, "summary": 381},
    "GraphRAG-Bench Medical": {None: 1_896, "multi_hop": 509, "single_hop": 1_098, "summary": 289},
}
_KINDS = {
    "LLM-judge correct, average": None,
    "LLM-judge correct, factual (single_hop)": "single_hop",
    "LLM-judge correct, reasoning (multi_hop)": "multi_hop",
    "LLM-judge correct, summary": "summary",
}
_CHUNK = (512, 100)
_MUSIQUE_DOCUMENTS = 21_100


def settings_of(number: PublishedNumber) -> SettingsOf:
    """The settings of a figure of table 2; the appendix repeats its averages, and no run has its other measures."""
    if number.table != "Table 2" or number.metric not in _KINDS:
        return None
    if number.system not in _COUNTERPARTS:
        return NoCounterpart(_WHY_NOT[number.system])
    kind, retrieves = _KINDS[number.metric], number.system != "LLM-only"
    count = _COUNTS[number.dataset][kind]
    whose = f"{count:,} {kind} questions" if kind else f"all {count:,} questions"
    return PaperSettings(
        _COUNTERPARTS[number.system],
        _READERS[number.llm],
        Retriever("text-embedding-3-small, cosine", 100, "100 chunks", frozenset({"text-embedding-3-small"}))
        if retrieves
        else None,
        _corpus(number.dataset) if retrieves else None,
        Questions(f"RAGRouter's {whose}", count, "all"),
        Measure(
            "share that GPT-4o calls correct, not incorrect or incomplete",
            "answer_accuracy",
            "RAGAS AnswerAccuracy",
            kind,
        ),
        trained=False,
        source=_SOURCE,
    )


def _corpus(dataset: str) -> Corpus:
    known = dataset == "MuSiQue"
    size = f"{_MUSIQUE_DOCUMENTS:,} documents" if known else "its documents"
    return Corpus(f"{size} in chunks of 512 tokens, 100 shared", _MUSIQUE_DOCUMENTS if known else None, _CHUNK)
