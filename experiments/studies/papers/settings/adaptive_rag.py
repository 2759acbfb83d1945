"""Adaptive-RAG: arXiv 2403.14403, sections 3.2 and 4, tables 2, 7 and 8; k from `run.py` of starsuzi/Adaptive-RAG."""

from __future__ import annotations

from experiments.studies.papers.numbers import PublishedNumber
from experiments.studies.papers.settings.shape import (
    CLOSED,
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

PAPER = "Adaptive-RAG"
_SOURCE = "arXiv 2403.14403, section 4; github starsuzi/Adaptive-RAG @0c88670a"
_READERS = {
    "Table 2": Reader("FLAN-T5-XL", frozenset({"flan-t5-xl"})),
    "Table 7": Reader("FLAN-T5-XXL", frozenset({"flan-t5-xxl"})),
    "Table 8": Reader("gpt-3.5-turbo-instruct", frozenset({"gpt-3.5-turbo-instruct"})),
}
_SELF_RAG_READERS = {
    "Table 2": Reader("selfrag_llama2_7b", frozenset({"selfrag_llama2_7b"})),
    "Table 7": Reader("selfrag_llama2_13b", frozenset({"selfrag_llama2_13b"})),
    "Table 8": Reader("selfrag_llama2_13b", frozenset({"selfrag_llama2_13b"})),
}
_SINGLE_K, _MULTI_K = {"Table 2": 15, "Table 7": 15, "Table 8": 6}, {"Table 2": 6, "Table 7": 6, "Table 8": 3}
_WIKIPEDIA = 21_015_324
_CORPORA = {
    "MuSiQue": 139_416,
    "HotpotQA": 5_233_329,
    "2WikiMultiHopQA": 430_225,
    "NQ": _WIKIPEDIA,
    "TriviaQA": _WIKIPEDIA,
    "SQuAD": _WIKIPEDIA,
}
_COUNTERPARTS = {
    "No Retrieval": CLOSED,
    "Single-step": PLAIN,
    "Adaptive-RAG": (Counterpart("adaptive", {"policy": "classifier"}), Counterpart("adaptive", {"policy": "router"})),
    "Multi-step (IRCoT)": (Counterpart("ircot"), Counterpart("adaptive", {"policy": "always_c"})),
    "Adaptive-RAG w/ Oracle": (Counterpart("adaptive", {"policy": "oracle"}),),
    "Self-RAG*": (SELF_RAG,),
}


def settings_of(number: PublishedNumber) -> SettingsOf:
    """The settings of a figure of tables 2, 7 and 8. Time is a ratio to the authors' own single step, and none."""
    measure = _measure(number)
    if number.table not in _READERS or measure is None:
        return None
    counterparts = _COUNTERPARTS.get(number.system)
    if counterparts is None:
        return NoCounterpart("it chooses by an entity's popularity, which no strategy here does")
    retriever, table = _retriever(number), number.table
    return PaperSettings(
        counterparts,
        (_SELF_RAG_READERS if number.system == "Self-RAG*" else _READERS)[table],
        retriever,
        Corpus(f"{_CORPORA[number.dataset]:,} paragraphs", _CORPORA[number.dataset]) if retriever else None,
        _questions(number.dataset),
        measure,
        number.system in ("Adaptive-RAG", "Self-RAG*"),
        _SOURCE,
    )


def _retriever(number: PublishedNumber) -> Retriever | None:
    single, multi = _SINGLE_K[number.table], _MULTI_K[number.table]
    match number.system:
        case "No Retrieval":
            return None
        case "Single-step":
            return Retriever("BM25", single, str(single))
        case "Multi-step (IRCoT)":
            return Retriever("BM25", multi, f"{multi} a step")
        case "Self-RAG*":
            return Retriever("not said for this row", None, "not said for this row")
    return Retriever("BM25", None, f"{single} in a single step, {multi} in each of several")


def _questions(dataset: str) -> Questions:
    if dataset == "MuSiQue":
        return Questions("500 of MuSiQue-Ans dev, drawn with seed 13370", 500, "drawn")
    return Questions(f"500 of {dataset}, drawn with seed 13370", 500, "unsaid")


def _measure(number: PublishedNumber) -> Measure | None:
    match number.metric:
        case "EM":
            return Measure("exact match", "answer_em")
        case "F1":
            return Measure("token F1", "answer_f1")
        case "Acc":
            return Measure(
                "normalised gold is a substring", "answer_contains", "normalised gold stands there in whole tokens"
            )
        case "Step":
            once = number.system in ("No Retrieval", "Single-step")
            return Measure(
                "steps of retrieval and generation",
                "retrievals_per_question",
                None if once else "retrievals, of which a step may make none",
            )
    return None
