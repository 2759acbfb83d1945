from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import ConfigError, StrategyError
from arena.types import RetrievalRequest
from experiments.execution.evidence import LiveSearch, load_search_tool, passages_of_results
from tests.unit.experiments.search_tools import Answering, two_pages

HERE = "tests.unit.experiments.search_tools"
REQUEST = RetrievalRequest("weir, year", "hybrid", 5, depth=50, rrf_k=60)
PAGE = {"title": "A", "url": "https://a.example", "content": "alpha"}


@pytest.mark.parametrize(
    "results",
    [
        "alpha",
        ["alpha"],
        [PAGE],
        [{"link": "https://a.example", "snippet": "alpha", "content": ""}],
        {"query": "q", "results": [PAGE]},
        json.dumps([PAGE]),
        PAGE,
    ],
    ids=["text", "texts", "mappings", "snippets", "wrapped", "json", "one mapping"],
)
def test_whatever_form_results_have_they_become_passages(results: Any) -> None:
    (found,) = passages_of_results(results)
    assert (found.text, found.start_char, found.end_char) == ("alpha", 0, 5)
    assert found.doc_id.startswith("web:")
    assert found.title in {"A", "", "https://a.example"}


def test_a_page_has_one_id_and_other_texts_of_it_other_passages() -> None:
    first, again, other = passages_of_results([PAGE, dict(PAGE), PAGE | {"content": "omega"}])
    assert first == again
    assert first.doc_id == other.doc_id
    assert first.passage_id != other.passage_id


def test_results_without_text_are_left_out() -> None:
    assert list(passages_of_results(["", " ", {"title": "T", "url": "u"}, {"content": None}])) == []


@pytest.mark.parametrize(("results", "kind"), [(3, "int"), ([None], "NoneType"), ([["x"]], "list")])
def test_any_other_form_is_an_error(results: Any, kind: str) -> None:
    with pytest.raises(ValueError, match=f"a result of type {kind}"):
        list(passages_of_results(results))


@given(st.lists(st.one_of(st.text(), st.dictionaries(st.sampled_from(["title", "url", "content"]), st.text()))))
def test_every_text_can_be_kept_and_is_found_again(results: list[Any]) -> None:
    for one in passages_of_results(results):
        assert one.text.strip()
        json.dumps([one.passage_id, one.text, one.title], ensure_ascii=False).encode()
    assert list(passages_of_results(results)) == list(passages_of_results(results))


def test_a_retrieval_has_the_first_results_and_their_passages() -> None:
    tool = Answering([PAGE, PAGE, *(f"text {n}" for n in range(9))])
    retriever = LiveSearch(tool, "tool").for_question("q")
    retrieval = anyio.run(retriever.retrieve, REQUEST)
    assert tool.asked == ["weir, year"]
    assert (retrieval.request.query, retrieval.request.mode, retrieval.request.depth) == ("weir, year", "live", None)
    assert [hit.rank for hit in retrieval.hits] == [1, 2, 3, 4, 5]
    assert [retriever.passage(hit.passage_id).text for hit in retrieval.hits][:2] == ["alpha", "text 0"]


@pytest.mark.parametrize(
    ("tool", "message"),
    [(Answering(3), "'tool' gave a result of type int"), (Answering("x", seconds=9), "nothing within 0.01 s")],
)
def test_a_tool_that_fails_fails_its_question(tool: Answering, message: str) -> None:
    retriever = LiveSearch(tool, "tool", timeout_seconds=0.01).for_question("q")
    with pytest.raises(StrategyError, match=message):
        anyio.run(retriever.retrieve, REQUEST)


class OutOfOrder:
    async def ainvoke(self, query: str) -> str:
        raise RuntimeError("quota used up")


def test_a_tool_that_raises_is_named_with_what_it_raised() -> None:
    retriever = LiveSearch(OutOfOrder(), "tool").for_question("q")
    with pytest.raises(StrategyError, match="search tool 'tool' failed with RuntimeError: quota used up"):
        anyio.run(retriever.retrieve, REQUEST)


def test_a_tool_is_made_by_the_factory_that_is_named() -> None:
    tool = load_search_tool(f"{HERE}:two_pages")
    load: Callable[[str], Any] = tool.ainvoke
    assert anyio.run(load, "q") == two_pages().results


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (f"{HERE}:nothing", "AttributeError"),
        ("no.such.module:tool", "No module named 'no': install it, or put the folder it is in on PYTHONPATH"),
        (f"{HERE}:broken", "RuntimeError: no key"),
        (f"{HERE}:not_a_tool", "gives 'object', which has no ainvoke"),
    ],
)
def test_a_tool_that_cannot_be_had_is_named_with_the_reason(path: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_search_tool(path)
