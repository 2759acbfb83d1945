"""The ground and the rules of the arena: records, datasets, models, metrics, runs, scores, reports."""
