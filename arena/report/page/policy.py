"""The content security policy of a page: nothing from elsewhere, and no script but those named by their hashes."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable

_PLOTLY_STYLE = ""
"""Plotly makes an empty style element and fills it rule by rule, which a policy cannot tell from none."""


def source_hash(text: str) -> str:
    """As a policy writes it: `'sha256-...'`."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def content_policy(scripts: Iterable[str], style: str) -> str:
    """The policy of a page with these inline scripts and this inline style, to the byte."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(map(source_hash, scripts))}",
            f"style-src {source_hash(style)} {source_hash(_PLOTLY_STYLE)}",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
