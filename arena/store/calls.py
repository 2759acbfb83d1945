"""calls.jsonl: the ledger of a run, one model call a line, derived from its journals."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from pydantic import TypeAdapter

from arena.types import LLMCall, RunRecord

_CALL = TypeAdapter(LLMCall)
_SUMS = (
    "input_tokens",
    "output_tokens",
    "cached_input_tokens",
    "reasoning_tokens",
    "queue_seconds",
    "service_seconds",
)


def call_lines(records: Iterable[RunRecord], *, superseded: bool = False) -> Iterator[bytes]:
    """Each ledger entry with its cell, its question and the sums over its attempts.

    `superseded`: the records were asked again later; what they took was paid all the same.
    """
    for record in records:
        place: dict[str, object] = {"cell": record.cell.key, "question_id": record.question_id}
        if superseded:
            place["superseded"] = True
        for call in record.calls:
            sums = {name: getattr(call, name) for name in _SUMS}
            line = json.dumps(place | sums | _CALL.dump_python(call, mode="json"), ensure_ascii=False)
            yield line.encode() + b"\n"
