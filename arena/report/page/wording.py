"""What metrics, costs and modes are called in running text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.report.page.quoted import Phrase

METRICS: Mapping[str, str] = {
    "answer_f1": "answer F1",
    "answer_em": "exact match",
    "answer_accuracy": "judged accuracy",
    "answer_contains": "containment",
    "retrieval_recall": "recall",
    "full_recall": "full recall",
    "retrieval_precision": "precision",
    "faithfulness": "judged faithfulness",
    "lexical_faithfulness": "lexical faithfulness",
    "correct_abstention": "correct abstention",
    "false_abstention": "false abstention",
    "mrr": "MRR",
}

COSTS: Mapping[str, str] = {
    "tokens": "tokens per question",
    "usd": "US dollars per question",
    "calls": "model calls per question",
    "seconds": "seconds per question",
}


def metric_name(metric: str) -> str:
    """As in `answer F1`; a metric without a name of its own is called by its key."""
    return METRICS.get(metric, metric.replace("_", " "))


def listed(names: Sequence[str], at_most: int = 4) -> str:
    """As in `a, b and c`; of many, the first and how many more."""
    if len(names) > at_most + 1:
        return f"{', '.join(names[:at_most])} and {len(names) - at_most:,} others"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def counted(count: int, noun: str) -> str:
    """As in `1 cell` and `12 cells`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def joined(*phrases: Phrase) -> Phrase:
    """One phrase after the other."""
    return tuple(part for phrase in phrases for part in phrase)
