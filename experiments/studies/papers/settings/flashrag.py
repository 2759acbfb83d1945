"""FlashRAG's reproduction of others' systems: the results table of RUC-NLPIR/FlashRAG @1ee52490, README.md."""

from __future__ import annotations

from experiments.studies.papers.numbers import PublishedNumber
from experiments.studies.papers.settings.shape import (
    CLOSED,
    PLAIN,
    SELF_RAG,
    Corpus,
    Counterpart,
    Measure,
    PaperSettings,
    Questions,
    Reader,
    Retriever,
    SettingsOf,
)

PAPER = "FlashRAG (third-party reproduction)"
_SOURCE = "github RUC-NLPIR/FlashRAG @1ee52490 README.md"
_READERS = {
    "Llama3-8B-instruct": Reader("Llama3-8B-instruct", frozenset({"llama-3-8b-instruct", "meta-llama-3-8b-instruct"})),
    "selfrag-llama2-7B": Reader("selfrag_llama2_7b", frozenset({"selfrag_llama2_7b"})),
}
_COUNTERPARTS = {
    "Naive Generation": CLOSED,
    "Standard RAG": PLAIN,
    "Adaptive-RAG (unofficial classifier)": (
        Counterpart("adaptive", {"policy": "classifier"}),
        Counterpart("adaptive", {"policy": "router"}),
    ),
    "Self-RAG (own llama2-7B checkpoint)": (SELF_RAG,),
    "IRCoT": (Counterpart("ircot"), Counterpart("adaptive", {"policy": "always_c"})),
}
_MEASURES = {"F1": Measure("token F1", "answer_f1"), "EM": Measure("exact match", "answer_em")}


def settings_of(number: PublishedNumber) -> SettingsOf:
    """The settings of a figure of its table. Which 1,000 questions were asked is not said."""
    retrieves = number.system != "Naive Generation"
    return PaperSettings(
        _COUNTERPARTS[number.system],
        _READERS[number.llm],
        Retriever("E5-base-v2", 5, "5", frozenset({"e5-base-v2"})) if retrieves else None,
        Corpus("Wikipedia, its passages not counted there", None) if retrieves else None,
        Questions(f"1,000 of {number.dataset}", 1_000, "unsaid"),
        _MEASURES[number.metric],
        number.system.startswith(("Adaptive-RAG", "Self-RAG")),
        _SOURCE,
    )
