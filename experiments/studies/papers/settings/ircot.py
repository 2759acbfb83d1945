"""IRCoT: arXiv 2212.10509 v2, sections 3 and 4, table 4; k from its released configurations."""

from __future__ import annotations

from experiments.studies.papers.numbers import PublishedNumber
from experiments.studies.papers.settings.shape import (
    CLOSED,
    PLAIN,
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

PAPER = "IRCoT"
_SOURCE = "arXiv 2212.10509, section 4 and appendix; github StonyBrookNLP/ircot @3c1820f6"
_READERS = {
    "Flan-T5-XXL": Reader("Flan-T5-XXL", frozenset({"flan-t5-xxl"})),
    "GPT3 code-davinci-002": Reader("code-davinci-002", frozenset({"code-davinci-002"})),
}
_CORPORA = {"MuSiQue": 139_416, "HotpotQA": 5_233_329, "2WikiMultiHopQA": 430_225, "IIRC": None}
_COUNTERPARTS = {
    "NoR + Direct reader": CLOSED,
    "OneR + Direct reader": PLAIN,
    "IRCoT + Direct reader": (Counterpart("ircot"), Counterpart("adaptive", {"policy": "always_c"})),
}
_WHY_NOT = {
    "NoR + CoT reader": "its reader writes a chain of thought, and the arena's answers directly",
    "OneR + CoT reader": "its reader writes a chain of thought, and the arena's answers directly",
    "IRCoT + CoT reader": "its reader writes a chain of thought, and the arena's answers directly",
    "IRCoT QA": "its reader writes a chain of thought, and the arena's answers directly",
    "IRCoT w/o separate reader": "the chain's own ending is its answer; the arena always asks a reader",
}
_MEASURES = {"F1": Measure("token F1", "answer_f1"), "EM": Measure("exact match", "answer_em")}


def settings_of(number: PublishedNumber) -> SettingsOf:
    """The settings of a figure of tables 3, 4 and 6; systems that table 3 quotes from others have no counterpart."""
    if number.metric not in _MEASURES or number.dataset.endswith("only)"):
        return None
    counterparts = _COUNTERPARTS.get(number.system)
    if counterparts is None:
        return NoCounterpart(_WHY_NOT.get(number.system, "a system of others that the paper quotes"))
    retrieves = not number.system.startswith("NoR")
    n_documents = _CORPORA[number.dataset]
    said = "its paragraphs, their number not said" if n_documents is None else f"{n_documents:,} paragraphs"
    drawn = number.dataset == "MuSiQue"
    return PaperSettings(
        counterparts,
        _READERS[number.llm],
        _retriever(number.system) if retrieves else None,
        Corpus(said, n_documents) if retrieves else None,
        Questions(f"500 of the dev set of {number.dataset}, seed 13370", 500, "drawn" if drawn else "unsaid"),
        _MEASURES[number.metric],
        trained=False,
        source=_SOURCE,
    )


def _retriever(system: str) -> Retriever:
    searched = "5 to 15, chosen on dev" if system.startswith("OneR") else "2, 4, 6 or 8 a step, chosen on dev"
    return Retriever("BM25", None, searched)
