"""Text that can be written down."""

from __future__ import annotations


def well_formed(text: str) -> str:
    """`text` with a `?` for every lone surrogate: JSON can spell one (backslash, `ud800`), UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode()
