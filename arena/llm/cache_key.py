"""What tells one call to a language model from another: the key of the reply cache."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from arena.protocols import ModelRequest

FORMAT = 1
"""Raised with every change of what a key is made of, or of what is kept under it."""


def cache_key(identity: Mapping[str, object], parameters: Mapping[str, object], request: ModelRequest) -> str:
    """64 hex digits: the SHA-256 of the canonical JSON of everything that can change a reply.

    `identity` is who replies (provider, endpoint, model, hash of its weights or script), `parameters` how it is set
    (temperature, token bound, seed, ...). Of the request, `role` and `repair` are left out: they are never sent.
    The order of keys makes no difference, but for `json_schema`, whose fields a model writes in the schema's order.
    """
    prompt = request.prompt
    sent = {
        "prompt": prompt if isinstance(prompt, str) else [[turn.role, turn.content] for turn in prompt],
        "room": request.room,
        "limit": request.limit,
        "alternatives": request.alternatives,
        "json_schema": None if request.json_schema is None else _json(request.json_schema, sort_keys=False),
        "stop": list(request.stop),
        "sample": request.sample,
    }
    canonical = _json([FORMAT, identity, parameters, sent], sort_keys=True)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def _json(value: object, *, sort_keys: bool) -> str:
    return json.dumps(value, sort_keys=sort_keys, separators=(",", ":"), allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{value!r} is no JSON value: it cannot be part of a cache key")
