"""The ground and the rules of the arena: records, datasets, models, metrics, runs, scores, reports."""

from arena.network import keep_to_itself

keep_to_itself()
