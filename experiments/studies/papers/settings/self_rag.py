"""Self-RAG: arXiv 2310.11511 v1, section 4 and appendix, table 2 and figure 3a."""

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

PAPER = "Self-RAG"
_SOURCE = "arXiv 2310.11511v1, sections 4.1 and 4.3, appendix; github AkariAsai/self-rag @1fcdc420"
_READERS = {
    "Self-RAG Llama2-7B": Reader("selfrag_llama2_7b", frozenset({"selfrag_llama2_7b"})),
    "Self-RAG Llama2-13B": Reader("selfrag_llama2_13b", frozenset({"selfrag_llama2_13b"})),
    "Llama2-7B": Reader("Llama2-7B", frozenset({"llama-2-7b", "llama-2-7b-hf"})),
    "Llama2-13B": Reader("Llama2-13B", frozenset({"llama-2-13b", "llama-2-13b-hf"})),
    "Llama2-chat-13B": Reader("Llama2-chat-13B", frozenset({"llama-2-13b-chat", "llama-2-13b-chat-hf"})),
    "ChatGPT": Reader("ChatGPT", maybe=frozenset({"gpt-3.5-turbo"})),
    "Llama2-7B, 50k instances": Reader("Self-RAG 7B on 50,000 instances, never released"),
}
_ABLATIONS = {
    "Self-RAG (50k training)": SELF_RAG,
    "Test: no retrieval": Counterpart("self_rag", {"retrieval": "never"}),
    "Test: hard constraints": Counterpart("self_rag", {"constraints": "hard"}),
    "Test: remove IsSup": Counterpart("self_rag", {"w_sup": 0.0}),
}
_QUESTIONS = {
    "PopQA": Questions("the 1,399 long-tail questions of PopQA", 1_399, "all"),
    "TriviaQA": Questions("the 11,313 questions of TriviaQA", 11_313, "all"),
}
_CONTAINED = Measure(
    "a gold string is a substring, case-sensitive", "answer_contains", "normalised gold stands there in whole tokens"
)
_CORPORA = {
    "PopQA": Corpus("Wikipedia of December 2020 in passages of 100 words, and 5 web passages", None, web=True),
    "TriviaQA": Corpus("Wikipedia of 2018 in passages of 100 words, and 5 web passages", None, web=True),
}


def settings_of(number: PublishedNumber) -> SettingsOf:
    """The settings of a short-form result; closed-set and long-form measures are none that the arena has."""
    short = number.dataset in _QUESTIONS and number.metric.startswith("accuracy")
    if number.table not in ("Table 2", "Figure 3a") or not short:
        return None
    counterparts = _counterparts(number.system)
    if not counterparts:
        return NoCounterpart("it was trained in another way, or cut to one passage; no strategy here is")
    plain = counterparts in (CLOSED, PLAIN)
    retrieves = counterparts != CLOSED and number.system != "Test: no retrieval"
    return PaperSettings(
        counterparts,
        _READERS.get(number.llm, Reader(number.llm)),
        Retriever("Contriever-MSMARCO", None, "5, and 5 from the web", frozenset({"contriever-msmarco"}))
        if retrieves
        else None,
        _CORPORA[number.dataset] if retrieves else None,
        _QUESTIONS[number.dataset],
        _CONTAINED,
        trained=not plain,
        source=_SOURCE,
    )


def _counterparts(system: str) -> tuple[Counterpart, ...]:
    if system == "Self-RAG":
        return (SELF_RAG,)
    if system in _ABLATIONS:
        return (_ABLATIONS[system],)
    if system.endswith("(no retrieval)"):
        return CLOSED
    return PLAIN if system.endswith("(retrieval)") else ()
