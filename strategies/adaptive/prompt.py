"""The prompt of the complexity classifier. It sees the question and nothing else."""

from __future__ import annotations

from arena.protocols import Message

_RULES = """\
Say how much must be looked up in order to answer a question.
A: nothing; it is common knowledge.
B: one thing; a single text about what the question names holds the answer.
C: several things, one after another; what the question names must first lead to something it does not name."""
_EXAMPLES = (
    ("How many days are there in a week?", "A"),
    ("Who built Pell Light?", "B"),
    ("Where was the builder of Pell Light born?", "C"),
    ("In which year did the Orrin Ferry begin to sail?", "B"),
    ("On which river is the harbour from which the Orrin Ferry sails?", "C"),
    ("What colour is snow?", "A"),
)


def classifier_prompt(question: str) -> tuple[Message, ...]:
    """Rules, two examples of each label (about a made-up place where something is to be looked up), the question."""
    shown = [turn for asked, label in _EXAMPLES for turn in (Message("user", _ask(asked)), Message("assistant", label))]
    return (Message("system", _RULES), *shown, Message("user", _ask(question)))


def _ask(question: str) -> str:
    return f"Question: {question}\nReply with one of: A, B, C"


TEMPLATES: tuple[str, ...] = tuple(message.content for message in classifier_prompt("QUESTION"))
"""Every text that a label is asked with, around a sample question; they identify the prompt's version."""
