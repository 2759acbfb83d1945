"""Names that MLflow takes for parameters and metrics, and shows for runs."""

from __future__ import annotations

import re

_CHARS = 250
_REFUSED = re.compile(r"[^\w.\- :/]", re.ASCII)


def mlflow_name(name: str) -> str:
    """`name` cut to what MLflow takes; a character that it refuses becomes `_`."""
    return _REFUSED.sub("_", name)[:_CHARS]


def run_name(*parts: str) -> str:
    """The parts that say something as the name of a run, cut: a setting may be a whole prompt."""
    return " ".join(filter(None, parts))[:_CHARS]
