"""JSON inside a page, where no text of the run can end the element that holds it."""

from __future__ import annotations

import json
from typing import Any

from markupsafe import Markup

_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def island(content: Any) -> Markup:
    """`content` as JSON that is the same in any HTML parser. NaN is refused with ValueError."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup("".join(_ESCAPES.get(one, one) for one in text) if set(text) & _ESCAPES.keys() else text)
