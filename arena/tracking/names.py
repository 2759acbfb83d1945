"""Names that MLflow takes for parameters and metrics."""

from __future__ import annotations

import re

_CHARS = 250
_REFUSED = re.compile(r"[^\w.\- :/]", re.ASCII)


def mlflow_name(name: str) -> str:
    """`name` cut to what MLflow takes; a character that it refuses becomes `_`."""
    return _REFUSED.sub("_", name)[:_CHARS]
