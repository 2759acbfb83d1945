"""Self-RAG: retrieve on demand, write one candidate per passage, criticise each, keep the best.

Asai, Wu, Wang, Sil and Hajishirzi, "Self-RAG: Learning to Retrieve, Generate, and Critique through Self-Reflection",
ICLR 2024 (arXiv 2310.11511).

    decide_retrieve -> retrieve -> fan_out -> candidate (one per text and passage) -> select_beam -> ... -> finish
                    `------------> fan_out -> generate_plain ----------------------'

Over any language model, asked for each reflection (T0 labels, T1 their probabilities); over the trained
selfrag_llama2 models, which emit them as tokens (T2).
"""

from __future__ import annotations

from pathlib import Path

from strategies.base import StrategySpec
from strategies.self_rag.checkpoint import TEMPLATES as CHECKPOINT_TEMPLATES
from strategies.self_rag.graph import FIGURE, build
from strategies.self_rag.params import SelfRagParams
from strategies.self_rag.prompted import TEMPLATES

__all__ = ["SELF_RAG"]

SELF_RAG = StrategySpec(
    "self_rag",
    "retrieve on demand, one candidate per passage, criticised and ranked; segment by segment in long form",
    FIGURE,
    build,
    params=SelfRagParams,
    tier="T2",
    card=Path(__file__).with_name("card.yaml"),
    roles={
        "decide_retrieve": "whether to look something up before the next segment",
        "judge_relevance": "whether a passage helps with the question",
        "generate_segment": "a segment, or the whole short answer, from one passage",
        "generate_plain": "a segment, or the whole short answer, without a passage",
        "judge_support": "how much of a segment its passage says",
        "judge_utility": "how well the text serves the question",
        "generate": "the final answer, where the question's allowance ended before any text was ranked",
    },
    prompts=(*TEMPLATES, *CHECKPOINT_TEMPLATES),
)
