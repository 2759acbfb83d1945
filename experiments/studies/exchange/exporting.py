"""`arena export`: a run in the formats of other tools, cell by cell, with question, gold and texts.

Rankings with their gold become TREC run files with qrels, and the JSON that ranx reads.

A ranking is all that a question's retrievals brought, first seen first, each document once. The arena's own ranking
metrics look at the first retrieval: of a strategy that retrieves again, tools see more. They sort by score, so that the
score is the number of documents from here to the end. Relevance is 1 for every supporting document. A failed question
has no ranking, and counts 0 where the tool averages over the qrels.

Every question of every cell can be one CSV table. Answers go to ragas as one file a cell, for
`EvaluationDataset.from_jsonl`. The arena's own exchange format is what `arena import` reads.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from arena.datasets.jsonl import place_folder
from arena.errors import DatasetError, RunStoreError, UnknownNameError
from arena.metrics import Case
from arena.scoring import usage_of
from arena.store import RunStore
from arena.store.runs import resume_command
from arena.types import RunRecord, ShownDocument
from experiments.execution.scoring import PastRun, cases_of, open_past_run, score_run
from experiments.studies.review.sheet import guarded, sheet_text


def file_stem(cell_key: str) -> str:
    """A cell's key as a file name: `vanilla/dense/1f2e3d4c` is `vanilla_dense_1f2e3d4c`."""
    return cell_key.replace("/", "_")


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


_JOINT = " | "


def write_csv(run: PastRun, cases: Iterator[Case], target: Path) -> Mapping[str, int]:
    """`questions.csv`: a row per cell and question, a column per metric; an empty field is what has no value.

    Text that a spreadsheet would run or rewrite stands behind an apostrophe. Nothing is left out.
    """
    table = score_run(run)
    metrics = list(dict.fromkeys(score.metric for _, _, score in table.rows()))
    of_cell = {cell.cell.key: cell for cell in table.cells}
    with (target / "questions.csv").open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        for number, case in enumerate(cases):
            scored = of_cell[case.record.cell.key]
            question_id = case.record.question_id
            found, usage = scored.failures.get(question_id), scored.usage[question_id]
            values = {score.metric: score.value for score in scored.scores[question_id]}
            spent = usage.account.whole
            row = {
                **_asked(case),
                **_happened(case),
                "failure": found.failure if found else None,
                "input_tokens": spent.input_tokens.value,
                "output_tokens": spent.output_tokens.value,
                "usd": spent.usd.value,
                "seconds": usage.latency_seconds if usage.measured else None,
                **{name: values.get(name) for name in metrics},
            }
            if number == 0:
                writer.writerow(row)
            writer.writerow([guarded(sheet_text(one)) if isinstance(one, str) else one for one in row.values()])
    return {}


def _asked(case: Case) -> dict[str, Any]:
    cell, question, gold = case.record.cell, case.question, case.gold
    return {
        "cell": cell.key,
        "strategy": cell.strategy,
        "retrieval_mode": cell.retrieval_mode,
        "llm": cell.llm,
        "question_id": question.question_id,
        "kind": question.kind,
        "hops": question.hops,
        "question": question.text,
        "gold_answers": _JOINT.join(gold.answers),
        "supporting_ids": _JOINT.join(gold.supporting_ids),
    }


def _happened(case: Case) -> dict[str, Any]:
    record, answer = case.record, case.record.answer
    return {
        "outcome": record.outcome,
        "answer": answer.text if answer else None,
        "retrieved_ids": _JOINT.join(answer.retrieved_ids) if answer and record.tells_evidence else None,
        "used_ids": _JOINT.join(answer.used_ids) if answer and record.tells_evidence else None,
        "cited_ids": _JOINT.join(answer.cited_ids) if answer else None,
        "error": record.failure.message if record.failure else None,
        "calls": len(record.calls) if record.counts_calls else None,
    }


def write_ragas(run: PastRun, cases: Iterator[Case], target: Path) -> Mapping[str, int]:
    """`CELL.jsonl`, a sample a line. Records without an answer, which ragas has no place for, are left out."""
    return _write_lines(target, ((case.record.cell.key, _sample(case)) for case in cases))


def write_answers(run: PastRun, cases: Iterator[Case], target: Path) -> Mapping[str, int]:
    """`CELL.jsonl`, a question a line. Nothing is left out."""
    return _write_lines(target, ((case.record.cell.key, _line(case.record)) for case in cases))


def _write_lines(target: Path, lines: Iterable[tuple[str, dict[str, Any] | None]]) -> Counter[str]:
    """Each line (its cell, its fields) into the file of its cell; cell -> how many have no fields."""
    left_out: Counter[str] = Counter()
    with ExitStack() as files:
        opened: dict[str, TextIO] = {}
        for cell, fields in lines:
            if fields is None:
                left_out[cell] += 1
                continue
            if cell not in opened:
                opened[cell] = files.enter_context((target / f"{file_stem(cell)}.jsonl").open("w", encoding="utf-8"))
            opened[cell].write(json.dumps(fields, ensure_ascii=False) + "\n")
    return left_out


def _sample(case: Case) -> dict[str, Any] | None:
    """The fields of a `SingleTurnSample`; None: no answer, or shown texts that are not known any more."""
    answer = case.record.answer
    if answer is None or answer.text is None or case.shown is None:
        return None
    supporting = (case.documents[one] for one in case.gold.supporting_ids if one in case.documents)
    return {
        "user_input": case.question.text,
        "retrieved_contexts": list(case.shown.values()),
        "reference_contexts": [f"{one.title}\n{one.text}" for one in supporting],
        "response": answer.text,
        "reference": case.gold.answers[0] if case.gold.answers else None,
    }


def _shown(one: ShownDocument) -> dict[str, Any]:
    if one.text is not None:
        return {"doc_id": one.doc_id, "text": one.text}
    return {"doc_id": one.doc_id, "spans": [list(span) for span in one.spans]}


def _line(record: RunRecord) -> dict[str, Any]:
    """The fields of an `AnswerLine` that the record has."""
    line: dict[str, Any] = {"question_id": record.question_id}
    if record.failure is not None:
        line["error"] = f"{record.failure.type}: {record.failure.message}"
    if (answer := record.answer) is not None:
        line |= {"answer": answer.text, "abstained": answer.abstained, "cited_ids": list(answer.cited_ids)}
        if record.tells_evidence:
            line |= {"retrieved_ids": list(answer.retrieved_ids), "used_ids": list(answer.used_ids)}
        if answer.shown is not None:
            line["shown"] = [_shown(one) for one in answer.shown]
    if isinstance(k := record.cell.params.get("k"), int):
        line["k"] = k
    if record.calls and not record.counts_calls:
        line |= {"input_tokens": record.calls[0].input_tokens, "output_tokens": record.calls[0].output_tokens}
    elif record.calls:
        said = ("role", "model", "input_tokens", "output_tokens")
        line["calls"] = [{name: getattr(call, name) for name in said} for call in record.calls]
    if usage_of(record).measured:
        line["seconds"] = record.latency_seconds
    return line


Writer = Callable[[PastRun, Iterator[Case], Path], Mapping[str, int]]
"""Writes the records of a run into a folder; cell key -> how many it had no place for."""

FORMATS: Mapping[str, Writer] = {
    "answers": write_answers,
    "csv": write_csv,
    "ragas": write_ragas,
    "ranx": write_ranx,
    "trec": write_trec,
}


@dataclass(frozen=True, slots=True)
class ExportedRun:
    """What was written.

    `left_out`: cell -> records that the format has no place for. `unfinished`: see `PastRun.unfinished`.
    """

    folder: Path
    files: tuple[str, ...]
    left_out: Mapping[str, int]
    unfinished: str | None


def export_run(run_folder: Path, form: str, out: Path, data_at: str | None = None) -> ExportedRun:
    """Write a run to the folder `out` in one of FORMATS, whole or not at all.

    `data_at`: where its dataset lies now (None: where its settings say).

    Raises:
        UnknownNameError: no such format.
        RunStoreError: the run cannot be read, or has no record yet.
        DatasetError: its data cannot be loaded, `out` holds something else, or an id does not fit the format.
    """
    if form not in FORMATS:
        raise UnknownNameError("format", form, FORMATS)
    run = open_past_run(RunStore.open(run_folder, data_at))
    if run.n_missing == len(run.plan.keys()):
        raise RunStoreError(f"run {run.store.run_id!r} has no record yet: {resume_command(run.store)} goes on with it")
    left_out: dict[str, int] = {}
    files: list[str] = []

    def fill(target: Path) -> None:
        left_out.update(FORMATS[form](run, cases_of(run), target))
        files.extend(sorted(path.name for path in target.iterdir()))

    place_folder(out, fill)
    return ExportedRun(out, tuple(files), {cell: number for cell, number in left_out.items() if number}, run.unfinished)
