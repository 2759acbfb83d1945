"""Reads an island as the page's scripts do, in Python: what was written must come back."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


def opened(line: str) -> Any:
    """The JSON of a line."""
    return json.loads(gzip.decompress(base64.b64decode(line, validate=True)))


def integers(column: Sequence[int]) -> list[int | None]:
    return [None if number < 0 else number for number in column]


def figures(column: Sequence[str | None]) -> list[float | None]:
    return [None if text is None else float(text) for text in column]


REAL = {"score", "threshold", "value", "low", "high", "usd"}


def rows(table: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    columns = {
        name: figures(column) if name in REAL or name.endswith("_seconds") else integers(column)
        for name, column in table.items()
    }
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


@dataclass
class Island:
    """The members of an island."""

    text: str
    lines: list[str] = field(init=False)
    contents: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.lines = self.text.split("\n")
        self.contents = opened(self.lines[0])

    def member(self, number: int) -> Any:
        return opened(self.lines[number])

    @property
    def listed(self) -> dict[str, Any]:
        return dict(self.member(self.contents["list"]))

    @property
    def names(self) -> dict[str, list[str]]:
        return dict(self.member(self.contents["names"]))

    def answers(self) -> list[Any]:
        held = self.member(self.contents["answers"])
        return [None if one is None else held["texts"][one] for one in integers(held["number"])]

    def texts(self) -> list[Any]:
        """Of all documents, in the order of their numbers; none where they were left out."""
        return [text for _, line in self.contents["texts"] for text in self.member(line)]

    def records(self) -> list[dict[str, Any]]:
        """Every record, in the order in which it was written, with all that belongs to it."""
        lanes = self.contents["lanes"] or [None] * len(self.contents["chunks"])
        read = []
        for place, ((numbers, words), lane) in enumerate(zip(self.contents["chunks"], lanes, strict=True)):
            first = place * self.contents["chunk_questions"]
            chunk = ReadChunk(self.member(numbers), self.member(words), self.member(lane) if lane else {}, self.names)
            read += [chunk.record(one, self.contents, first) for one in range(len(chunk.records))]
        return read


class ReadChunk:
    """One chunk; what belongs to an owner is cut off its table in turn."""

    def __init__(
        self, numbers: dict[str, Any], words: list[Any], lanes: dict[str, Any], names: dict[str, list[str]]
    ) -> None:
        self.numbers, self.words, self.names = numbers, words, names
        self.records = rows(numbers["records"])
        self.questions = self._read_questions()
        self.pool = self._read_pool(lanes)
        self.scores, self.codes = rows(numbers["scores"]), numbers["codes"]
        self.retrieved = iter(numbers["retrieved"])
        self.used, self.cited = iter(numbers["used"]), iter(numbers["cited"])
        self.decisions, self.parts = iter(rows(numbers["decisions"])), iter(rows(numbers["decision_parts"]))
        self.roles = iter(rows(numbers["roles"]))
        verdict_parts = iter(rows(numbers["verdict_parts"]))
        self.verdicts = [
            one | {"parts": [next(verdict_parts) for _ in range(one["n_parts"])]} for one in rows(numbers["verdicts"])
        ]

    def word(self, number: int | None) -> Any:
        return None if number is None else self.words[number]

    def _read_questions(self) -> dict[int, dict[str, Any]]:
        tables = self.numbers["questions"]
        documents, gold = iter(tables["documents"]), iter(integers(tables["gold"]))
        head = {name: tables[name] for name in ("slot", "first_retrieval", "n_documents", "n_gold")}
        return {
            one["slot"]: one
            | {
                "documents": [self.names["ids"][next(documents)] for _ in range(one["n_documents"])],
                "gold": [self.word(next(gold)) for _ in range(one["n_gold"])],
            }
            for one in rows(head)
        }

    def _read_pool(self, lanes: dict[str, Any]) -> list[dict[str, Any]]:
        hits = rows(self.numbers["hits"])
        for name, lane in lanes.items():
            scores = iter(figures(lane["score"]))
            for hit, rank in zip(hits, integers(lane["rank"]), strict=True):
                hit.setdefault("lanes", {})
                if rank is not None:
                    hit["lanes"][name] = (rank, next(scores))
        left, beyond = iter(hits), iter(rows(self.numbers["beyond"]))
        pool = []
        for one in rows(self.numbers["retrievals"]):
            documents = self.questions[one["question"]]["documents"]
            found = [next(left) for _ in range(one["n_hits"] + one["n_dropped"])]
            placed = [next(beyond) for _ in range(one["n_gold_beyond"])]
            pool.append(
                {
                    "query": self.word(one["query"]),
                    "request": self.word(one["request"]),
                    "hits": [self._hit(hit, documents) for hit in found],
                    "n_dropped": one["n_dropped"],
                    "n_beyond": one["n_beyond"],
                    "beyond": [(documents[gold["document"]], gold["place"]) for gold in placed],
                }
            )
        return pool

    def _hit(self, hit: dict[str, Any], documents: list[str]) -> dict[str, Any]:
        doc_id = documents[hit["document"]]
        return {
            "doc_id": doc_id,
            "passage_id": self.word(hit["passage"]) or doc_id,
            "span": None if hit["start"] is None else (hit["start"], hit["end"]),
            "rank": hit["rank"],
            "score": hit["score"],
            "lanes": hit.get("lanes", {}),
        }

    def record(self, number: int, contents: dict[str, Any], first: int) -> dict[str, Any]:
        one = self.records[number]
        question = self.questions[one["question"]]
        documents = question["documents"]
        decisions = [next(self.decisions) for _ in range(one["n_decisions"])]
        n = len(contents["metrics"])
        codes = self.codes[number * n : (number + 1) * n]
        return {
            "place": first + one["question"],
            "cell": contents["cells"][one["cell"]]["key"],
            "outcome": contents["outcomes"][one["outcome"]],
            "finding": self.word(one["finding"]),
            "hop": one["hop"],
            "missing": None if one["missing"] is None else documents[one["missing"]],
            "failure": tuple(self.word(one[name]) for name in ("stage", "type", "message")),
            "flags": [name for place, name in enumerate(contents["flags"]) if one["flags"] >> place & 1],
            "seconds": (one["latency_seconds"], one["wall_seconds"], one["retrieval_seconds"]),
            "usd": one["usd"],
            "gold": dict(zip(documents, question["gold"], strict=False)),
            "retrievals": [
                self.pool[question["first_retrieval"] + next(self.retrieved)] for _ in range(one["n_retrievals"])
            ],
            "used": [documents[next(self.used)] for _ in range(one["n_used"])],
            "cited": [documents[next(self.cited)] for _ in range(one["n_cited"])],
            "decisions": [self._decision(each, documents) for each in decisions],
            "roles": [self._worded(next(self.roles), "role", "models") for _ in range(one["n_roles"])],
            "scores": {
                metric: (self.scores[code - 1]["value"], self.word(self.scores[code - 1]["reason"]))
                for metric, code in zip(contents["metrics"], codes, strict=True)
                if code
            },
            "verdicts": [
                (self.word(each["metric"]), each["value"], [(self.word(p["name"]), p["value"]) for p in each["parts"]])
                for each in self.verdicts
                if (each["question"], each["cell"]) == (one["question"], one["cell"])
            ],
        }

    def _decision(self, one: dict[str, Any], documents: list[str]) -> dict[str, Any]:
        parts = [next(self.parts) for _ in range(one["n_parts"])]
        subject = self.word(one["subject"]) if one["document"] is None else documents[one["document"]]
        read = self._worded(one, "node", "choice", "origin", "tier", "changed")
        return read | {"subject": subject, "parts": {self.word(part["name"]): part["value"] for part in parts}}

    def _worded(self, row: dict[str, Any], *names: str) -> dict[str, Any]:
        return row | {name: self.word(row[name]) for name in names}
