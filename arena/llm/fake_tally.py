"""The fake provider's own books: what it handed out, for whoever wants to check a ledger against them.

One JSON line a request, written as its answer is handed out, so that a request given up before has none:

    {"prompt": "16 hex digits", "call": "16 hex digits", "input_tokens": 12, "output_tokens": 3, "fault": null}

`prompt` is the ledger's hash of the prompt, `call` one of prompt and parameters. Tokens are those the reply tells: null
where it tells none (`no_usage`, a timeout, a broken connection, a response that is no JSON), 0 where it was refused.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from arena.llm.fake_reply import FakeRequest


class Tally:
    """Adds to the file `path`; None = keeps nothing. Lines of several processes do not mix, and a kill loses none."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def add(self, request: FakeRequest, tokens: tuple[int | None, int | None], fault: str | None) -> None:
        """Enter what was handed out for `request`: tokens in and out, and the fault it met."""
        if self._path is None:
            return
        fields: dict[str, Any] = {"prompt": request.prompt_id, "call": request.call_id}
        fields |= {"input_tokens": tokens[0], "output_tokens": tokens[1], "fault": fault}
        line = f"{json.dumps(fields)}\n".encode("ascii")
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(file, line)
        finally:
            os.close(file)
