"""What every contestant's graph is made of, and what it can reach."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import strategies
from arena.protocols import Tools
from arena.types import Task
from strategies import STRATEGIES
from strategies.nodes import retrieve
from tests.contract.contestants import SETTINGS_OF, VARIANTS, every, those
from tests.contract.courses import strategy

SOURCES = sorted(Path(strategies.__file__).parent.rglob("*.py"))
ALLOWED = (
    *("arena.errors", "arena.files", "arena.identity", "arena.protocols", "arena.text", "arena.types"),
    *("langgraph", "pydantic", "strategies", "yaml"),
)
HIDDEN = {"Claim", "Dataset", "Gold", "Kind", "Question", "RunRecord", "Score"}


def functions(graph: Any) -> Iterator[tuple[str, Any]]:
    """(node, function) of a graph and of every graph inside it."""
    for name, node in graph.builder.nodes.items():
        inner = node.runnable
        if hasattr(inner, "builder"):
            yield from functions(inner)
        else:
            yield name, inner.afunc or inner.func


def imported(source: Path) -> Iterator[tuple[str, str]]:
    """(module, name) of every import; the name is empty where a module is imported whole."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)


def test_every_strategy_is_under_test() -> None:
    assert set(SETTINGS_OF) == set(STRATEGIES)


@every
def test_the_graph_is_the_figure(entry: str) -> None:
    drawn = strategy(entry).graph.get_graph(xray=True)
    assert {(edge.source, edge.target) for edge in drawn.edges} == VARIANTS[entry].spec.figure


@those(lambda variant: variant.spec.evidence != "none")
def test_the_index_is_asked_by_the_one_retrieve_node(entry: str) -> None:
    nodes = dict(functions(strategy(entry).graph))
    assert nodes["retrieve"] is retrieve
    assert all((function is retrieve) == (name == "retrieve") for name, function in nodes.items())


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_nobody_else_touches_the_index(source: Path) -> None:
    touched = {
        node.attr
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "retriever"
    }
    assert not touched or source == Path(inspect.getfile(retrieve))


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_no_gold_can_be_imported(source: Path) -> None:
    for module, name in imported(source):
        if module.partition(".")[0] == "arena" or module.partition(".")[0] in ("indexing", "experiments"):
            assert module.startswith(ALLOWED), f"{source.name} imports {module}"
        assert name not in HIDDEN, f"{source.name} imports {name}"


def test_no_gold_is_handed_over() -> None:
    assert {field.name for field in fields(Tools)} == {
        "retriever",
        "settings",
        "writer",
        "external",
        "evaluator",
        "report",
        "router",
    }
    assert {field.name for field in fields(Task)} == {"question", "style"}
