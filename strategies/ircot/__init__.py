"""IRCoT: retrieval interleaved with a chain of thought, one sentence at a time.

Trivedi, Balasubramanian, Khot and Sabharwal, "Interleaving Retrieval with Chain-of-Thought Reasoning for
Knowledge-Intensive Multi-Step Questions", ACL 2023 (arXiv 2212.10509).

    retrieve -> collect -> reason -> form_query -> retrieve ...      until the chain ends: -> generate

A contestant of its own, and the multi-step strategy of Adaptive-RAG.
"""

from __future__ import annotations

from pathlib import Path

from strategies.base import StrategySpec
from strategies.ircot.graph import FIGURE, ROLES, IrcotParams, build
from strategies.ircot.prompt import TEMPLATES

__all__ = ["IRCOT"]

IRCOT = StrategySpec(
    "ircot",
    "one reasoning sentence at a time, each the query of the next retrieval; then a separate reader",
    FIGURE,
    build,
    params=IrcotParams,
    tier="T0",
    card=Path(__file__).with_name("card.yaml"),
    roles=ROLES,
    prompts=TEMPLATES,
)
