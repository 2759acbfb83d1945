"""A `Writer` whose every reply a test decides, with a note of all that was asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import BaseModel

from arena.errors import ModelCallError
from arena.protocols import Continuation, Judgement, Message, TokenChoice

S = TypeVar("S", bound=BaseModel)
Text = Callable[[str, str], str]
Verdict = Callable[[str, str, Sequence[str]], str | Mapping[str, float] | None]
Form = Callable[[str, str], Mapping[str, object]]


def _parrot(role: str, prompt: str) -> str:
    return "Mirelle Ostrand [1]"


def _first(role: str, prompt: str, labels: Sequence[str]) -> str:
    return labels[0]


def _nothing(role: str, prompt: str) -> Mapping[str, object]:
    raise ModelCallError(f"{role}: no form is scripted")


@dataclass
class ScriptedWriter:
    """`text(role, prompt)` writes; `verdict(role, prompt, labels)` judges: a label (T0), label -> probability (T1), or
    None (unreadable); `form(role, prompt)` gives the fields of a structured reply. `logprob` is that of every token
    (None: the model gives none). `prompt` is the last user turn, or the text to continue.
    """

    text: Text = _parrot
    verdict: Verdict = _first
    form: Form = _nothing
    logprob: float | None = None
    asked: list[tuple[str, str]] = field(default_factory=list)

    def roles(self) -> list[str]:
        return [role for role, _ in self.asked]

    def prompts(self, role: str) -> list[str]:
        return [prompt for asked, prompt in self.asked if asked == role]

    async def fits(self, messages: Sequence[Message], *, room: int | None = None) -> bool:
        return True

    async def write(self, messages: Sequence[Message], *, role: str, room: int | None = None) -> str:
        return self.text(role, self._note(role, messages[-1].content))

    async def draft(
        self,
        messages: Sequence[Message],
        *,
        role: str,
        limit: int | None = None,
        stop: tuple[str, ...] = (),
        logprobs: bool = False,
    ) -> Continuation:
        said = self.text(role, self._note(role, messages[-1].content))
        return Continuation(said, self._tokens(said) if logprobs else (), "stop")

    async def classify(self, messages: Sequence[Message], labels: Sequence[str], *, role: str) -> Judgement:
        said = self.verdict(role, self._note(role, messages[-1].content), labels)
        if said is None or isinstance(said, str):
            return Judgement(said, "T0")
        total = sum(said.values())
        shares = {label: said.get(label, 0.0) / total for label in labels}
        return Judgement(max(labels, key=lambda label: shares[label]), "T1", shares, min(1.0, total))

    async def ask(self, messages: Sequence[Message], schema: type[S], *, role: str) -> S:
        return schema.model_validate(self.form(role, self._note(role, messages[-1].content)))

    async def continue_text(
        self, prompt: str, *, role: str, limit: int, stop: tuple[str, ...] = (), alternatives: int = 0
    ) -> Continuation:
        said = self.text(role, self._note(role, prompt))
        return Continuation(said, self._tokens(said), "stop")

    def _note(self, role: str, prompt: str) -> str:
        self.asked.append((role, prompt))
        return prompt

    def _tokens(self, said: str) -> tuple[TokenChoice, ...]:
        if self.logprob is None:
            return ()
        words = re.findall(r"\s*\S+|\s+$", said)  # together they are what was said
        return tuple(TokenChoice(word, self.logprob, {word: self.logprob}) for word in words)
