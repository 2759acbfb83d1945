"""Prompts that are longer than the model's window lose evidence by one policy, and say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import PromptTooLongError
from arena.protocols import Message
from arena.types import Passage
from strategies.fitting import MOST_REFUSALS, fitted, from_passages, shortened
from tests.scripted_writer import ScriptedWriter


def passage(name: str, text: str) -> Passage:
    return Passage(name, name, name.upper(), text, 0, len(text))


@dataclass
class Narrow(ScriptedWriter):
    """Reads `window` characters, prompt and nothing else."""

    window: int = 10_000

    async def fits(self, messages: Sequence[Message], *, room: int | None = None) -> bool:
        return sum(len(turn.content) for turn in messages) + (room or 0) <= self.window


def build(shown: tuple[Passage, ...]) -> tuple[Message, ...]:
    return (Message("user", "".join(one.text for one in shown)),)


def kept(window: int, *texts: str, room: int | None = None) -> list[str]:
    passages = [passage(f"d{n}", text) for n, text in enumerate(texts)]

    async def work() -> list[str]:
        shown, prompt = await fitted(Narrow(window=window), build, passages, room=room)
        assert prompt == build(shown)
        return [one.text for one in shown]

    return anyio.run(work)


def test_passages_at_the_end_are_dropped_first() -> None:
    assert kept(30, "a" * 10, "b" * 10, "c" * 10) == ["a" * 10, "b" * 10, "c" * 10]
    assert kept(29, "a" * 10, "b" * 10, "c" * 10) == ["a" * 10, "b" * 10]
    assert kept(30, "a" * 10, "b" * 10, "c" * 10, room=15) == ["a" * 10]


def test_a_first_passage_that_is_too_long_alone_is_shortened_at_its_end() -> None:
    (text,) = kept(100, "x" * 50 + "y" * 1000, "z")
    assert text.startswith("x" * 50)
    assert 90 <= len(text) <= 100


def test_where_nothing_fits_nothing_is_shown() -> None:
    assert kept(0, "a" * 1000) == []


@given(st.lists(st.integers(0, 400), min_size=1, max_size=8), st.integers(0, 1500))
def test_what_is_kept_always_fits_and_is_a_beginning(lengths: list[int], window: int) -> None:
    texts = [chr(ord("a") + place) * length for place, length in enumerate(lengths)]
    shown = kept(window, *texts)
    assert sum(map(len, shown)) <= window
    assert "".join(texts).startswith("".join(shown))


def test_a_shortened_passage_knows_which_part_of_its_document_it_is() -> None:
    whole = Passage("p", "d", "D", "alpha beta gamma", 10, 26)
    assert shortened(whole, 5) == Passage("p", "d", "D", "alpha", 10, 15)
    strips = Passage("p", "d", "D", "one. two. three.", 0, 40, parts=((0, 4), (20, 24), (34, 40)))
    cut = shortened(strips, 8)
    assert (cut.text, cut.spans) == ("one. two", ((0, 4), (20, 23)))
    assert shortened(strips, 4).spans == ((0, 4),)


def refusing(times: int) -> tuple[list[int], Narrow]:
    """A server that does not say its window, and refuses so many prompts."""
    lengths: list[int] = []

    def text(role: str, prompt: str) -> str:
        lengths.append(len(prompt))
        if len(lengths) <= times:
            raise PromptTooLongError("the request exceeds the available context size")
        return "fine"

    return lengths, Narrow(text=text)


def test_a_server_that_refuses_is_asked_with_a_fifth_less_each_time() -> None:
    lengths, writer = refusing(2)

    async def work() -> tuple[str, int, str, float | None, float | None]:
        said, shown, (decision,) = await from_passages(
            writer,
            build,
            [passage("a", "x" * 1000), passage("b", "y" * 1000)],
            lambda messages, _: writer.write(messages, role="generate"),
        )
        return said, sum(len(one.text) for one in shown), decision.choice, decision.score, decision.threshold

    assert anyio.run(work) == ("fine", 800, "dropped", 1.0, 2.0)
    assert lengths == [2000, 1000, 800]


def test_a_server_that_goes_on_refusing_is_a_failure() -> None:
    lengths, writer = refusing(99)

    async def work() -> None:
        await from_passages(
            writer, build, [passage("a", "x" * 1000)], lambda messages, _: writer.write(messages, role="generate")
        )

    with pytest.raises(PromptTooLongError):
        anyio.run(work)
    assert len(lengths) == 1 + MOST_REFUSALS


def test_what_fits_leaves_no_decision() -> None:
    writer = Narrow()

    async def work() -> tuple[object, ...]:
        return (await from_passages(writer, build, [passage("a", "x")], lambda m, _: writer.write(m, role="g")))[2]

    assert anyio.run(work) == ()
