"""Which models may prefer each other's writing, being of one family.

A judge tends to rate its own answers higher (Panickssery, Bowman & Feng 2024, "LLM Evaluators Recognize and Favor Their
Own Generations").
"""

from __future__ import annotations

import re

_FAMILIES: tuple[tuple[str, ...], ...] = (
    ("qwen", "qwq"),
    ("llama", "vicuna"),
    ("gpt", "chatgpt", "davinci", "o1", "o3", "o4"),
    ("claude",),
    ("gemini", "gemma"),
    ("mistral", "mixtral", "ministral", "magistral", "codestral", "devstral", "pixtral"),
    ("smollm", "smollm2", "smollm3"),
    ("phi",),
    ("deepseek",),
    ("command", "aya"),
    ("grok",),
    ("nova", "titan"),
    ("granite",),
    ("nemotron",),
    ("falcon",),
    ("olmo", "tulu"),
    ("glm", "chatglm"),
    ("kimi", "moonshot"),
    ("yi",),
)
_WORD = re.compile(r"[a-z]+(?:\d+)?")


def family_of(model: str) -> str | None:
    """The family of `PROVIDER:NAME`, told by the words of its name; None = none that is known here."""
    name = model.partition(":")[2].casefold()
    words = {form for word in _WORD.findall(name) for form in (word, word.rstrip("0123456789"))}
    return next((members[0] for members in _FAMILIES if words & set(members)), None)


def same_family(judge: str, generator: str) -> bool:
    """Whether two models, each `PROVIDER:NAME`, are the same or of the same family."""
    return judge == generator or (family_of(judge) is not None and family_of(judge) == family_of(generator))
