"""Trained routers: how complex a question is, as probabilities, from its text alone.

`light` is an embedding and a logistic regression, `t5` the paper's fine-tuned T5 (Adaptive-RAG, arXiv 2403.14403).
Both are folders that `arena train-router` writes and `open_router` reads.
"""

from __future__ import annotations

from indexing.routing.light import LightRouter, LightWeights
from indexing.routing.opening import open_router
from indexing.routing.router_file import CALLED, RouterFile, RouterKind, query_identity, read_router_file
from indexing.routing.t5 import T5Router

__all__ = [
    "CALLED",
    "LightRouter",
    "LightWeights",
    "RouterFile",
    "RouterKind",
    "T5Router",
    "open_router",
    "query_identity",
    "read_router_file",
]
