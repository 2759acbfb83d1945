"""A contamination-free world: fictional, seeded, of any size, and proven sound from its texts.

`make_world` goes from words (lexicon.yaml) through a graph to texts. `check_world` goes back from the texts to facts
and queries, and knows nothing of the graph.
"""

from __future__ import annotations

import hashlib
from random import Random

from arena.datasets.world.graph import ExhaustedError
from arena.datasets.world.proof import check_world
from arena.datasets.world.questions import WorldDraft
from arena.errors import DatasetError
from arena.types import Dataset

__all__ = ["BUNDLED", "check_world", "make_world"]


BUNDLED = {"documents": 240, "questions": 60, "seed": 11}
"""The world behind the dataset name `world`, for `make_world`."""

_SMALLEST_WORLD = 60
_LARGEST_WORLD = 1_000_000
_DOCUMENTS_PER_QUESTION = 3
_ATTEMPTS = 20


def make_world(documents: int, questions: int, seed: int) -> Dataset:
    """A fictional world of exactly that many documents and questions; the same arguments give the same bytes.

    Raises:
        DatasetError: a size below one, or too few documents to carry the questions.
    """
    _require_room(documents, questions)
    for attempt in range(_ATTEMPTS):
        digest = hashlib.sha256(f"world:{documents}:{questions}:{seed}:{attempt}".encode()).digest()
        try:
            return WorldDraft(documents, questions, Random(int.from_bytes(digest, "big"))).dataset(
                f"world:{documents}:{seed}"
            )
        except ExhaustedError:
            continue
    raise DatasetError(
        f"world: no world of {documents} documents and seed {seed} carries {questions} questions; "
        f"ask for more documents, fewer questions or another seed"
    )


def _require_room(documents: int, questions: int) -> None:
    for what, count in (("documents", documents), ("questions", questions)):
        if count < 1:
            raise DatasetError(f"world: {what} must be at least 1, not {count!r}")
    if documents > _LARGEST_WORLD:
        raise DatasetError(f"world: documents must be at most {_LARGEST_WORLD}, not {documents!r}")
    least = max(_SMALLEST_WORLD, _DOCUMENTS_PER_QUESTION * questions)
    if documents < least:
        raise DatasetError(
            f"world: {documents} documents cannot carry {questions} questions; "
            f"ask for at least {least} documents or fewer questions"
        )
