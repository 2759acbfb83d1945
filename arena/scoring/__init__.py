"""RunRecords + Gold -> ScoreTable. Pure and offline: any finished run can be scored again without a model."""

from arena.scoring.scorer import score_records
from arena.scoring.table import CellScores, ScoreTable, Usage, by_metric, usage_of

__all__ = ["CellScores", "ScoreTable", "Usage", "by_metric", "score_records", "usage_of"]
