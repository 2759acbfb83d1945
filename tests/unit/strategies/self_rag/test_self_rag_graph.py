from __future__ import annotations

from typing import Any, get_args

import pytest

from strategies import STRATEGIES
from strategies.base import Status
from strategies.nodes import retrieve
from strategies.self_rag import SELF_RAG
from strategies.self_rag.graph import FIGURE
from strategies.self_rag.params import SelfRagParams


@pytest.mark.parametrize("checkpoint", [False, True])
def test_the_graph_is_the_figure_and_holds_the_one_retrieve_node(checkpoint: bool) -> None:
    graph = SELF_RAG.build(SelfRagParams(checkpoint=checkpoint)).graph
    assert {(edge.source, edge.target) for edge in graph.get_graph().edges} == FIGURE
    node: Any = graph.builder.nodes["retrieve"].runnable
    assert node.afunc is retrieve


def test_it_is_in_the_table_and_its_card_says_what_became_of_each_clause() -> None:
    assert STRATEGIES["self_rag"] is SELF_RAG
    card = SELF_RAG.fidelity
    assert card is not None
    assert {clause.status for clause in card.clauses} == set(get_args(Status))
    assert all(clause.how for clause in card.clauses)
