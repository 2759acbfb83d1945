"""The scores of a chunk: the distinct ones, and a number of one of them for every metric of every record."""

from __future__ import annotations

from collections.abc import Sequence

from arena.report.page.explorer.columns import Planes, Vocabulary, planes
from arena.report.page.explorer.tables import Scores
from arena.types import Score


class ScoreCodes:
    """Scores, record by record. `metrics`: those of the page, in its order."""

    def __init__(self, words: Vocabulary, metrics: Sequence[str]) -> None:
        self._words = words
        self._metrics = list(metrics)
        self.distinct = Scores()
        self._codes: list[list[int]] = []
        self._by_content: dict[tuple[float | None, str | None, float | None, float | None], int] = {}
        # The score table lives as long as the page is made, and holds equal scores once.
        self._by_id: dict[int, int] = {}

    def add(self, scores: Sequence[Score]) -> None:
        """The scores of the next record."""
        if [score.metric for score in scores] == self._metrics:
            self._codes.append([self._code(score) for score in scores])
        else:
            by_metric = {score.metric: score for score in scores}
            self._codes.append([self._code(found) if (found := by_metric.get(one)) else 0 for one in self._metrics])

    def written(self) -> Planes:
        """Record by record: scores of one record follow from each other more than those of one metric are alike."""
        return planes(code for codes in self._codes for code in codes)

    def _code(self, score: Score) -> int:
        code = self._by_id.get(id(score))
        if code is None:
            code = self._by_id[id(score)] = self._code_of_content(score)
        return code

    def _code_of_content(self, score: Score) -> int:
        low, high = (score.partial.low, score.partial.high) if score.partial else (None, None)
        content = (score.value, score.reason, low, high)
        if content not in self._by_content:
            self._by_content[content] = len(self._by_content) + 1
            self.distinct.value.append(score.value)
            self.distinct.reason.append(self._words.number(score.reason))
            self.distinct.low.append(low)
            self.distinct.high.append(high)
        return self._by_content[content]
