"""Thresholds from what a run on the dev part shows."""
