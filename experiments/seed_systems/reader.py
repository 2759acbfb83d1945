"""A reader whose every answer is known beforehand, as a script of the fake model.

It is given the gold documents, and so measures nothing: it is there to show whether the arena finds out what it does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from arena.text import ABSTENTION
from arena.types import Dataset, Document, Question

_SLIPS_EVERY = 4
_HEAD_CHARS = 60  # of a document: enough to know it by
_FINAL = r"(?s)\AAnswer the question "
"""How every prompt for a final answer begins, and no other."""


def write_reader(path: Path, dataset: Dataset) -> None:
    """It answers right if all gold documents are in the prompt, and else abstains.

    Of the questions of several hops it stops at every fourth one hop short, and gives what its last document is about:
    wrong, in words of the evidence. Requests for anything but a final answer are left to the rules of `fake:`.
    """
    rules = [{"when": when, "reply": reply} for when, reply in _replies(dataset)]
    rules.append({"when": _FINAL, "reply": ABSTENTION})
    path.write_text(yaml.safe_dump({"rules": rules}, allow_unicode=True, width=1_000), encoding="utf-8")


def _replies(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """What a prompt has to look like, and the answer to it."""
    documents = {document.doc_id: document for document in dataset.documents}
    chains = 0
    for question in dataset.questions:
        gold = dataset.gold[question.question_id]
        if not gold.answers:
            continue
        evidence = [documents[doc_id] for doc_id in gold.hop_order or gold.supporting_ids]
        chains += question.kind == "multi_hop"
        slips = question.kind == "multi_hop" and chains % _SLIPS_EVERY == 0
        yield _prompt_with(question, evidence), evidence[-1].title if slips else gold.answers[0]


def _prompt_with(question: Question, evidence: Sequence[Document]) -> str:
    """A regular expression for a prompt that asks `question` and shows all of `evidence`."""
    shown = (re.escape(f"] {one.title}: {one.text[:_HEAD_CHARS]}") for one in evidence)
    asked = re.escape(f"\nQuestion: {question.text}\nAnswer:")
    return rf"{_FINAL}(?=.*{asked}\Z)" + "".join(rf"(?=.*{one})" for one in shown)
