"""Verdicts of language models on answers, by the metrics of RAGAS.

ragas is imported when a judge is opened, and not before: it takes seconds. Scores from verdicts need none of it.
"""
