"""CRAG: arXiv 2401.15884, sections 4 and 5 and appendix, version 3 unless a table says otherwise."""

from __future__ import annotations

from experiments.studies.papers.numbers import PublishedNumber
from experiments.studies.papers.settings.shape import (
    PLAIN,
    SELF_RAG,
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

PAPER = "CRAG"
_SOURCE = "arXiv 2401.15884v3, sections 4 and 5, appendix; github HuskyInSalt/CRAG @de7c2961"
_READERS = {
    "LLaMA2-hf-7b": Reader("LLaMA2-hf-7b", frozenset({"llama-2-7b-hf"})),
    "SelfRAG-LLaMA2-7b": Reader("selfrag_llama2_7b", frozenset({"selfrag_llama2_7b"})),
}
_COUNTERPARTS = {
    "RAG": PLAIN,
    "CRAG": (Counterpart("corrective", {"decompose": "sentences"}),),
    "CRAG w/o refinement": (Counterpart("corrective", {"decompose": "none"}),),
    "Self-RAG": (SELF_RAG,),
    "Self-RAG*": (SELF_RAG,),
}
_CONTAINED = Measure(
    "accuracy, a gold string in the output",
    "answer_contains",
    "normalised gold stands there in whole tokens",
)


def settings_of(number: PublishedNumber) -> SettingsOf:
    """The settings of an accuracy on PopQA, the one dataset here whose measure the arena has."""
    if number.dataset != "PopQA" or number.metric != "accuracy":
        return None
    counterparts = _COUNTERPARTS.get(number.system)
    if counterparts is None:
        return NoCounterpart("an ablation, Self-CRAG or a baseline with web passages, which no strategy here is")
    corrective = counterparts[0].strategy == "corrective"
    return PaperSettings(
        counterparts,
        _READERS[number.llm],
        Retriever("Contriever-MSMARCO", 10, "10", frozenset({"contriever-msmarco"})),
        Corpus(f"Wikipedia in passages of 100 words{', and the web' if corrective else ''}", None, web=corrective),
        Questions("the 1,399 long-tail questions of PopQA", 1_399, "all"),
        _CONTAINED,
        trained=counterparts != PLAIN,
        source=_SOURCE,
    )
