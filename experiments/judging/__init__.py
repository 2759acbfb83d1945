"""Judges at work on a run, while it goes on or long after."""
