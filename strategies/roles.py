"""What each strategy asks a language model for: role -> question, one ledger role per node that asks."""

from __future__ import annotations

from collections.abc import Mapping

ANSWER = {"generate": "the final answer"}

_REASONING = {"reason": "the next sentence of reasoning", **ANSWER}

ROLES: Mapping[str, Mapping[str, str]] = {
    "vanilla": ANSWER,
    "corrective": {
        "evaluate": "whether a retrieved passage helps to answer the question",
        "refine": "whether a strip of a retrieved passage does",
        "rewrite": "the question as keywords for the external search",
        "select_external": "whether a strip of what that search found helps",
        **ANSWER,
    },
    "self_rag": {
        "decide_retrieve": "whether to look something up before the next segment",
        "judge_relevance": "whether a passage helps with the question",
        "generate_segment": "a segment, or the whole short answer, from one passage",
        "generate_plain": "a segment, or the whole short answer, without a passage",
        "judge_support": "how much of a segment its passage says",
        "judge_utility": "how well the text serves the question",
        "generate": "the final answer, where the question's allowance ended before any text was ranked",
    },
    "adaptive": {"classify": "how much must be looked up to answer the question", **_REASONING},
    "ircot": _REASONING,
    "retrieval_only": {},
    "closed_book": ANSWER,
    "oracle": ANSWER,
    "oracle_minus_one_hop": ANSWER,
    "gold_plus_distractors": ANSWER,
}
"""Every role under which a strategy that ships makes calls, under any settings."""
