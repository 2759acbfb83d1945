"""Corrective RAG: judge what was retrieved, then refine it, replace it, or do both.

Yan, Gu, Zhu and Ling, "Corrective Retrieval Augmented Generation", arXiv 2401.15884 v3. Runs at T0 (labels), T1 (label
probabilities, or a calibrated cross-encoder) and T2 (the released T5 evaluator). Where it differs is in `card`.

    retrieve -> evaluate -> decide_action -> refine ------------------------------> recompose -> generate
                                          -> rewrite -> search -> select_external ->
"""

from pathlib import Path

from strategies.base import StrategySpec
from strategies.corrective.evaluator import TEMPLATES
from strategies.corrective.graph import FIGURE, build
from strategies.corrective.params import CorrectiveParams
from strategies.nodes import ANSWER

__all__ = ["CORRECTIVE", "CorrectiveParams"]

CORRECTIVE = StrategySpec(
    "corrective",
    "judge what was retrieved; refine it, search elsewhere, or both",
    FIGURE,
    build,
    params=CorrectiveParams,
    tier="T2",
    card=Path(__file__).with_name("card.yaml"),
    roles={
        "evaluate": "whether a retrieved passage helps to answer the question",
        "refine": "whether a strip of a retrieved passage does",
        "rewrite": "the question as keywords for the external search",
        "select_external": "whether a strip of what that search found helps",
        **ANSWER,
    },
    prompts=TEMPLATES,
    uses_external=lambda params: params.external != "off",
    trained=lambda params: params.trained,
)
