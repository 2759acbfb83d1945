"""Who decides on retrieval, writes segments and judges them: a prompted model or the trained one."""

from __future__ import annotations

from typing import Protocol

from arena.protocols import Writer
from arena.types import AnswerStyle
from strategies.self_rag.state import Beam, Branch, Draft, Reading


class Critic(Protocol):
    """The four reflections of the paper, and the writing between them."""

    async def decide(self, question: str, beam: Beam, writer: Writer) -> Reading:
        """Read the Retrieve token for the beam's next segment."""
        ...

    async def extend(self, question: str, style: AnswerStyle, branch: Branch, writer: Writer) -> Draft:
        """Write the branch's next segment and judge it."""
        ...
