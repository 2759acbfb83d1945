"""Adaptive-RAG: how much retrieval a question needs is decided once, before anything else.

Jeong, Baek, Cho, Hwang and Park, "Adaptive-RAG: Learning to Adapt Retrieval-Augmented Large Language Models through
Question Complexity", NAACL 2024 (arXiv 2403.14403).

    classify -> A: answer_plain                          no retrieval
             -> B: retrieve -> generate                  one retrieval, as `vanilla`
             -> C: retrieve -> collect -> reason ...     step by step, as `ircot`

`policy` fixes the label, reads it from a file, or asks a trained router, so that every row of the paper's table comes
from this one graph.
"""

from __future__ import annotations

from pathlib import Path

from strategies.adaptive.graph import FIGURE, TEMPLATES, build
from strategies.adaptive.params import LABELS, AdaptiveParams, Label
from strategies.base import StrategySpec
from strategies.ircot.graph import ROLES as IRCOT_ROLES
from strategies.ircot.prompt import TEMPLATES as IRCOT_TEMPLATES

__all__ = ["ADAPTIVE", "LABELS", "Label"]

ADAPTIVE = StrategySpec(
    "adaptive",
    "a complexity label decides once: no retrieval, one, or step by step",
    FIGURE,
    build,
    params=AdaptiveParams,
    tier="T2",
    card=Path(__file__).with_name("card.yaml"),
    roles={"classify": "how much must be looked up to answer the question", **IRCOT_ROLES},
    prompts=(*TEMPLATES, *IRCOT_TEMPLATES),
    trained=lambda params: params.trained,
)
