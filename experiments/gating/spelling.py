"""Text that comes from data, for files that do not hold every character."""

from __future__ import annotations


def spelt_out(text: str) -> str:
    r"""The text with what XML 1.0 has no way to write as `\x1b`, `\ud800`."""
    return "".join(one if _is_writable(ord(one)) else one.encode("unicode_escape").decode() for one in text)


def _is_writable(code: int) -> bool:
    """Whether XML 1.0 has the character: production [2] of its grammar."""
    return code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
