"""The 500 questions of MuSiQue that IRCoT and Adaptive-RAG were tested on, drawn again.

Both papers use the test set that IRCoT's `subsample_dataset_and_remap_paras.py` (@68f617ec) draws from the official dev
file: 100 questions for development, then 500 of the others, Python's generator seeded with 13370 before each. The file
that the authors published was not at hand to be held against this.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from arena.errors import DatasetError

SEED, N_DEV, N_TEST = 13370, 100, 500
MUSIQUE_DEV = 2_417
"""Questions of MuSiQue-Ans' dev file; another file is not what they were drawn from."""


def draw(question_ids: Sequence[str]) -> tuple[str, ...]:
    """The ids of the test questions, in the order in which they are drawn.

    `question_ids`: those of musique_ans_v1.0_dev.jsonl, in the order of the file.

    Raises:
        DatasetError: it is another number of questions.
    """
    if len(question_ids) != MUSIQUE_DEV:
        raise DatasetError(
            f"the 500 test questions were drawn from the {MUSIQUE_DEV:,} of musique_ans_v1.0_dev.jsonl, and these are "
            f"{len(question_ids):,}: name that file"
        )
    development = set(random.Random(SEED).sample(list(question_ids), N_DEV))
    others = [one for one in question_ids if one not in development]
    return tuple(random.Random(SEED).sample(others, N_TEST))
