"""Small datasets of which it is known what shares what."""

from __future__ import annotations

from pathlib import Path

from arena.datasets import load_dataset
from arena.datasets.jsonl import write_jsonl
from arena.datasets.records import fingerprint
from arena.sampling import Part
from arena.types import Dataset, Document, Gold, Question
from tests.unit.experiments.studies.calibrate.lookups import ids

SHARED = "shared"


def planted(folder: Path, *, single: int = 6, multi: int = 6, leaking: int = 0) -> Dataset:
    """So many short single-hop and long multi-hop questions in each part, each on documents of its own.

    `leaking` further dev questions share a document with a question of the part eval.
    """
    documents = [Document(SHARED, "Shared", "Everybody rests on this one.")]
    questions: list[Question] = []
    gold: dict[str, Gold] = {}

    def add(question_id: str, *, hops: int, shared: bool = False) -> None:
        own = [Document(f"{question_id}-{hop}", f"{question_id} {hop}", "A text.") for hop in range(hops)]
        documents.extend(own)
        text = f"Who made {question_id}?" if hops == 1 else f"Who made the thing that {question_id} was given to by it?"
        questions.append(Question(question_id, text, "single_hop" if hops == 1 else "multi_hop", hops))
        support = tuple(document.doc_id for document in own) + ((SHARED,) if shared else ())
        gold[question_id] = Gold(question_id, (f"answer of {question_id}",), support)

    parts: tuple[Part, ...] = ("dev", "eval")
    for part in parts:
        for question_id in ids("s", single, part):
            add(question_id, hops=1)
        for question_id in ids("m", multi, part):
            add(question_id, hops=2)
    for question_id in ids("leak", leaking, "dev"):
        add(question_id, hops=2, shared=True)
    if leaking:
        add(ids("tested", 1, "eval")[0], hops=2, shared=True)
    asked = tuple(questions)
    write_jsonl(Dataset("planted", tuple(documents), asked, gold, fingerprint(documents, asked, gold)), folder)
    return load_dataset(f"jsonl:{folder}")
