"""Knowledge beside the corpus, for strategies that search elsewhere when an index has let them down."""

from __future__ import annotations

from pydantic import Field

from arena.config.settings import Settings


class ExternalConfig(Settings):
    """Where a strategy may search beside the index of the run's own dataset. None = there is no such place.

    `dataset`: any dataset; its corpus becomes a second index, made and asked like the first (a `jsonl:` folder
    needs no questions for that). `tool`: a search tool of
    LangChain, or anything with `ainvoke(query)`; what it finds on the live web may hold a benchmark's answers.
    """

    dataset: str | None = None
    tool: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$",
        description="`package.module:factory`; the factory is called without arguments and gives the tool.",
    )
