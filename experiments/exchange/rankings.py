"""Rankings of documents with their gold: TREC run files with qrels, and the JSON that ranx reads.

A ranking is all that a question's retrievals brought, first seen first, each document once. The arena's own ranking
metrics look at the first retrieval: of a strategy that retrieves again, tools see more. They sort by score, so that the
score is the number of documents from here to the end. Relevance is 1 for every supporting document. A failed question
has no ranking, and counts 0 where the tool averages over the qrels.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from arena.errors import DatasetError
from arena.metrics import Case
from experiments.exchange.cases import file_stem
from experiments.run.scoring import PastRun

_SPACE = re.compile(r"\s")

Scored = dict[str, int]
"""Document id -> score."""


def write_trec(run: PastRun, cases: Iterator[Case], target: Path) -> Mapping[str, int]:
    """`qrels.txt` and `CELL.run` for every cell that ranks.

    Raises:
        DatasetError: an id holds white space, which the format parts its columns by.
    """
    rankings, left_out = _rankings(cases)
    gold = _gold(run)
    lines = (f"{_word(one)} 0 {_word(doc)} 1\n" for one, wanted in gold.items() for doc in wanted)
    (target / "qrels.txt").write_text("".join(lines), encoding="utf-8")
    for cell, ranked in rankings.items():
        tag = file_stem(cell)
        rows = (
            f"{_word(one)} Q0 {_word(doc)} {rank} {score} {tag}\n"
            for one, scored in ranked.items()
            for rank, (doc, score) in enumerate(scored.items(), start=1)
        )
        (target / f"{tag}.run").write_text("".join(rows), encoding="utf-8")
    return left_out


def write_ranx(run: PastRun, cases: Iterator[Case], target: Path) -> Mapping[str, int]:
    """`qrels.json` and `CELL.json`, as ranx's `Qrels.from_file` and `Run.from_file` read them."""
    rankings, left_out = _rankings(cases)
    _write_json(target / "qrels.json", _gold(run))
    for cell, ranked in rankings.items():
        _write_json(target / f"{file_stem(cell)}.json", ranked)
    return left_out


def _rankings(cases: Iterator[Case]) -> tuple[dict[str, dict[str, Scored]], Counter[str]]:
    """Cell -> question -> ranking, of the cells that retrieved anything; and how many records have none."""
    found: dict[str, dict[str, Scored]] = {}
    without: Counter[str] = Counter()
    for case in cases:
        cell, answer = case.record.cell.key, case.record.answer
        ranked = list(dict.fromkeys(answer.retrieved_ids)) if answer else []
        if ranked:
            found.setdefault(cell, {})[case.record.question_id] = {
                doc: len(ranked) - place for place, doc in enumerate(ranked)
            }
        else:
            without[cell] += 1
    return found, without


def _gold(run: PastRun) -> dict[str, Scored]:
    """Question -> supporting documents, of the planned questions that have any."""
    asked = dict.fromkeys(one for cell in run.plan.cells for one in cell.question_ids)
    gold = {one: dict.fromkeys(run.dataset.gold[one].supporting_ids, 1) for one in asked}
    return {one: wanted for one, wanted in gold.items() if wanted}


def _word(identifier: str) -> str:
    if _SPACE.search(identifier):
        raise DatasetError(
            f"the id {identifier!r} holds white space, which parts the columns of a TREC file: take --format ranx"
        )
    return identifier


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
