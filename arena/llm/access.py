"""How one language model is reached: the LangChain model and what surrounds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


# Settings of every LangChain model: replies are fetched whole, because streamed ones lose their token counts with some
# providers, and never come from a cache of LangChain's.
PLAIN: Mapping[str, bool] = {"disable_streaming": True, "cache": False}


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """A LangChain model, ready to be asked.

    `limit_field` is the model's field that bounds a reply. `endpoint` and `key_variable` (the environment
    variable the key came from) are for messages, `key` is known in order to keep it out of them.
    `default_concurrency`: calls in flight where the settings do not say.
    """

    chat: BaseChatModel
    limit_field: str = "max_tokens"
    endpoint: str | None = None
    key_variable: str | None = None
    key: str | None = field(default=None, repr=False)
    default_concurrency: int = 8

    @property
    def secrets(self) -> tuple[str, ...]:
        return () if self.key is None else (self.key,)
