"""The metrics that a judge can be asked by."""

from __future__ import annotations

from collections.abc import Mapping

from arena.judges.accuracy import ANSWER_ACCURACY
from arena.judges.contexts import CONTEXT_PRECISION, CONTEXT_RECALL
from arena.judges.correctness import ANSWER_CORRECTNESS
from arena.judges.faithfulness import FAITHFULNESS
from arena.judges.protocol import JudgeProtocol
from arena.judges.relevancy import ANSWER_RELEVANCY
from arena.types import JudgeMetric

PROTOCOLS: Mapping[JudgeMetric, JudgeProtocol] = {
    one.metric: one
    for one in (
        *(ANSWER_ACCURACY, FAITHFULNESS, CONTEXT_PRECISION, CONTEXT_RECALL),
        *(ANSWER_RELEVANCY, ANSWER_CORRECTNESS),
    )
}
