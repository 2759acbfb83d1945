"""The metrics of the arena, in the order tables show them. Each scores one record; none averages or rounds."""

from arena.metrics.case import Case, is_undefined
from arena.metrics.table import METRICS, MetricSpec, score_record

__all__ = ["METRICS", "Case", "MetricSpec", "is_undefined", "score_record"]
