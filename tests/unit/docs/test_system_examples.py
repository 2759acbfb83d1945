"""The examples of docs/systems.md as they stand; what is not installed is stood in for by its documented interface."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import uvicorn
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models import FakeListChatModel

from arena.datasets.jsonl import write_jsonl
from arena.store.journal import RECORD_LINES, entries
from arena.types import RunRecord
from experiments.cli.main import main
from tests.patience import wait_until
from tests.samples import DOCUMENTS, QUESTIONS, small_dataset

PAGE = (Path(__file__).parents[3] / "docs" / "systems.md").read_text(encoding="utf-8")
EXAMPLES = {name: code for name, code in re.findall(r"```python\n# (\w+)\.py\n(.*?)```", PAGE, re.DOTALL)}

Run = Callable[..., list[RunRecord]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Ask a system all questions, with the examples of the page on the path and its folder of data here."""
    write_jsonl(small_dataset(), tmp_path / "my_data")
    for name, code in EXAMPLES.items():
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    def call(system: str) -> list[RunRecord]:
        options = ["--strategies", "", "--run-id", "r", "--no-mlflow", "--llm", "fake:", "--no-report"]
        with pytest.raises(SystemExit) as ended:
            main(["run", "--dataset", "jsonl:my_data", "--system", f"mine={system}", *options])
        assert not ended.value.code
        return list(entries(tmp_path / "runs" / "r" / "records.jsonl", RECORD_LINES))

    yield call
    for name in EXAMPLES:
        sys.modules.pop(name, None)


def answered(records: list[RunRecord]) -> list[RunRecord]:
    assert len(records) == len(QUESTIONS)
    assert {record.outcome for record in records} == {"answered"}
    return records


def shows_whole_documents(records: list[RunRecord]) -> bool:
    return all(
        one.spans and one.text is None
        for record in records
        for one in (record.answer.shown if record.answer else None) or ()
    )


def stand_in(monkeypatch: pytest.MonkeyPatch, **modules: dict[str, Any]) -> None:
    """Modules of these names, `__` for a dot, with these contents; their packages too."""
    for dotted, contents in modules.items():
        parts = dotted.split("__")
        for end in range(1, len(parts) + 1):
            name = ".".join(parts[:end])
            if name not in sys.modules:
                monkeypatch.setitem(sys.modules, name, ModuleType(name))
        vars(sys.modules[".".join(parts)]).update(contents)


def test_langchain(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "langchain.chat_models.init_chat_model", lambda model, **_: FakeListChatModel(responses=["1871"])
    )
    monkeypatch.setattr("langchain.embeddings.init_embeddings", lambda model: DeterministicFakeEmbedding(size=8))
    records = answered(run("python:langchain_system:ask"))
    for record in records:
        assert record.answer is not None
        assert sorted(record.answer.retrieved_ids) == [one.doc_id for one in DOCUMENTS]
    assert shows_whole_documents(records)


@dataclass
class _Node:
    ref_doc_id: str
    text: str

    def get_content(self) -> str:
        return self.text


class _Index:
    """A query engine that finds the first document for every question."""

    def __init__(self, documents: list[Any]) -> None:
        self.documents = documents

    def as_query_engine(self, similarity_top_k: int) -> _Index:
        return self

    async def aquery(self, question: str) -> Any:
        found = self.documents[0]
        nodes = [SimpleNamespace(node=_Node(found.id_, found.text), score=0.5)]

        class Response:
            source_nodes = nodes

            def __str__(self) -> str:
                return "1871"

        return Response()


def test_llamaindex(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    index = SimpleNamespace(from_documents=_Index)
    stand_in(monkeypatch, llama_index__core={"Document": SimpleNamespace, "VectorStoreIndex": index})
    records = answered(run("python:llamaindex_system:ask"))
    assert {record.answer.used_ids for record in records if record.answer} == {("d1",)}
    assert shows_whole_documents(records)


@dataclass
class _HaystackDocument:
    id: str = ""
    content: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    score: float | None = None


class _Pipeline:
    """Runs what it is asked for: the retriever's store, and a reply."""

    def __init__(self) -> None:
        self.parts: dict[str, Any] = {}

    def add_component(self, name: str, part: Any) -> None:
        self.parts[name] = part

    def connect(self, source: str, target: str) -> None:
        assert source.partition(".")[0] in self.parts
        assert target.partition(".")[0] in self.parts

    def run(self, asked: dict[str, Any], include_outputs_from: set[str]) -> dict[str, Any]:
        assert asked["retriever"]["query"] == asked["prompt"]["question"]
        assert include_outputs_from == {"retriever"}
        usage = {"prompt_tokens": 7, "completion_tokens": 2}
        reply = SimpleNamespace(text="1871", meta={"usage": usage})
        return {"llm": {"replies": [reply]}, "retriever": {"documents": self.parts["retriever"].store.documents[:2]}}


class _Store:
    def __init__(self) -> None:
        self.documents: list[_HaystackDocument] = []

    def write_documents(self, documents: list[_HaystackDocument]) -> None:
        self.documents += documents


def test_haystack(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(
        monkeypatch,
        haystack={"Document": _HaystackDocument, "Pipeline": _Pipeline},
        haystack__components__builders={"ChatPromptBuilder": lambda template: template},
        haystack__components__generators__chat={"OpenAIChatGenerator": lambda model: model},
        haystack__components__retrievers__in_memory={
            "InMemoryBM25Retriever": lambda document_store, top_k: SimpleNamespace(store=document_store)
        },
        haystack__dataclasses={"ChatMessage": SimpleNamespace(from_user=str)},
        haystack__document_stores__in_memory={"InMemoryDocumentStore": _Store},
    )
    records = answered(run("python:haystack_system:ask"))
    assert {record.answer.used_ids for record in records if record.answer} == {("d1", "d2")}
    assert {record.calls[0].input_tokens for record in records} == {7}


def test_fastapi(run: Run, tmp_path: Path) -> None:
    from importlib import import_module

    served = import_module("fastapi_system").app
    server = uvicorn.Server(uvicorn.Config(served, port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        wait_until(lambda: server.started)
        (place,) = (one.getsockname() for one in server.servers[0].sockets)
        records = answered(run(f"http:http://127.0.0.1:{place[1]}/ask"))
    finally:
        server.should_exit = True
        thread.join()
    assert all(record.tells_evidence for record in records)


def test_a_program(run: Run, tmp_path: Path) -> None:
    records = answered(run(f"command:{sys.executable} -S {tmp_path / 'my_rag.py'}"))
    assert not any(record.tells_evidence for record in records)


def test_the_page_names_every_setting() -> None:
    from arena.config import SystemConfig

    assert not {name for name in SystemConfig.model_fields if f"`{name}`" not in PAGE}
