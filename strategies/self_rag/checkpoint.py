"""Self-RAG over its own checkpoints (T2): one decoding pass writes a segment and criticises it.

Layout and tokens are those that the trained selfrag_llama2 models expect. Literals and places: paper's table 1, and the
released code's `utils.py` and `run_short_form.py`. A passage is laid out where it was retrieved, and stays there when
the text goes on, as in the training data.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from arena.errors import StrategyError
from arena.protocols import Continuation, TokenChoice, Writer
from arena.types import AnswerStyle, Passage, was_cut
from strategies.answer import SAMPLE, parse_answer
from strategies.self_rag.params import SelfRagParams
from strategies.self_rag.state import Beam, Branch, Critique, Draft, Reflection

Group = Mapping[str, str]

RETRIEVE: Group = {"[Retrieval]": "yes", "[No Retrieval]": "no", "[Continue to Use Evidence]": "continue"}
RELEVANCE: Group = {"[Relevant]": "yes", "[Irrelevant]": "no"}
SUPPORT: Group = {
    "[Fully supported]": "fully",
    "[Partially supported]": "partially",
    "[No support / Contradictory]": "none",
}
UTILITY: Group = {f"[Utility:{value}]": str(value) for value in range(1, 6)}
ALTERNATIVES = 20
"""As many as completions servers commonly give; a reflection token that is not among them counts as impossible."""

_ENDS = ("</s>", "<|endoftext|>")
_LITERALS = (*RETRIEVE, *RELEVANCE, *SUPPORT, *UTILITY, *_ENDS, "<s>")
_SHOWN = re.compile(r"<paragraph>.*?(?:</paragraph>|$)", re.DOTALL)
_RESERVED = re.compile("|".join([*map(re.escape, _LITERALS), "</?paragraph>", r"###(?=\s*(?:Instruction|Response))"]))
_WIDE = {"[": "\uff3b", "<": "\uff1c", "#": "\uff03"}


def layout(instruction: str, response: str = "") -> str:
    """The prompt: an instruction block, then the response as far as it goes."""
    return f"### Instruction:\n{defused(instruction)}\n\n### Response:\n{response}"


def evidence(passage: Passage) -> str:
    """A retrieved passage inside a response."""
    return f"[Retrieval]<paragraph>{defused(passage.title)}\n{defused(passage.text)}</paragraph>"


def choice_instruction(question: str, options: Sequence[str]) -> str:
    """The instruction of a closed set, its options lettered."""
    listed = "".join(f"\n{chr(ord('A') + place)}: {option}" for place, option in enumerate(options))
    return f"Choose the one option that answers the question.\n\n## Input:\n\n{question}{listed}"


def defused(text: str) -> str:
    """`text` without anything that the tokenizer would take for one of its special tokens or the layout's marks."""
    return _RESERVED.sub(lambda found: _WIDE[found[0][0]] + found[0][1:], text)


def first_reading(said: Continuation, group: Group) -> Reflection:
    """The group's token at the very first place, emitted or not."""
    return _at(said.tokens[0], group) if said.tokens else _from_text(said.text, group)


def read(said: Continuation, breaks: Sequence[str]) -> Draft:
    """Read one pass: the segment ends before the first of `breaks` that does not open it; its text is bare.

    Relevance is read at the first token; support and utility where the first token of their group was emitted inside
    the segment. What never appears is a reading without a label and without probabilities.
    """
    tokens, after = _split(said.tokens, breaks)
    raw = "".join(token.text for token in tokens) if said.tokens else _cut(said.text, breaks)
    upcoming = _at(after, RETRIEVE) if after else None
    if not said.tokens and len(raw) < len(said.text):
        upcoming = _from_text(said.text[len(raw) :], RETRIEVE)
    segment = Continuation(raw, tuple(tokens))
    return Draft(
        text=_bare(raw),
        critique=Critique(
            relevance=first_reading(segment, RELEVANCE),
            support=_where_emitted(segment, SUPPORT),
            utility=_where_emitted(segment, UTILITY),
        ),
        mean_logprob=segment.mean_logprob,
        done=upcoming is None and not was_cut(said.finish_reason),
        raw=raw,
        upcoming=upcoming,
    )


def match_option(text: str, options: Sequence[str]) -> str | None:
    """The option that `text` begins with, by its letter or in full; None when it is none."""
    said = text.strip().casefold()
    longest_first = sorted(enumerate(options), key=lambda item: -len(item[1]))
    names = [(option.casefold(), option) for _, option in longest_first]
    names += [(chr(ord("a") + place), option) for place, option in enumerate(options)]
    for name, option in names:
        if said.startswith(name) and not said[len(name) : len(name) + 1].isalnum():
            return option
    return None


def _split(tokens: Sequence[TokenChoice], breaks: Sequence[str]) -> tuple[Sequence[TokenChoice], TokenChoice | None]:
    for place, token in enumerate(tokens):
        if place and token.text.strip() in breaks:
            return tokens[:place], token
    return tokens, None


def _cut(text: str, breaks: Sequence[str]) -> str:
    places = [place for mark in breaks if (place := text.find(mark, 1)) > 0]
    return text[: min(places, default=len(text))]


def _where_emitted(said: Continuation, group: Group) -> Reflection:
    for token in said.tokens:
        if token.text.strip() in group:
            return _at(token, group)
    return _reading(None, {}) if said.tokens else _from_text(said.text, group)


def _at(token: TokenChoice, group: Group) -> Reflection:
    """The group's probabilities at one place; variants with white space are summed."""
    probabilities: dict[str, float] = {}
    for text, logprob in {**token.alternatives, token.text: token.logprob}.items():
        label = group.get(text.strip())
        if label is not None:
            probabilities[label] = probabilities.get(label, 0.0) + math.exp(logprob)
    return _reading(group.get(token.text.strip()), probabilities)


def _from_text(text: str, group: Group) -> Reflection:
    """The first token of the group in a text without log-probabilities, as a hard label."""
    found = [(place, label) for mark, label in group.items() if (place := text.find(mark)) >= 0]
    if not found:
        return _reading(None, {})
    _, label = min(found)
    return _reading(label, {label: 1.0})


def _reading(label: str | None, probabilities: Mapping[str, float]) -> Reflection:
    """What does not appear claims no tier: another model than the trained one emits none of these tokens."""
    return Reflection(label, probabilities, "T2" if probabilities else None)


def _bare(raw: str) -> str:
    text = _SHOWN.sub(" ", raw)
    for literal in _LITERALS:
        text = text.replace(literal, " ")
    return " ".join(text.split())


TEMPLATES: tuple[str, ...] = (
    layout("QUESTION", evidence(SAMPLE)),
    layout(choice_instruction("QUESTION", ("FIRST", "SECOND"))),
)
"""The layout around samples; they identify its version."""


@dataclass(frozen=True, slots=True)
class TrainedCritic:
    """A `Critic` that decodes."""

    params: SelfRagParams

    async def decide(self, question: str, beam: Beam, writer: Writer) -> Reflection:
        """The Retrieve token: the one that ended the last segment, else that of one more decoding step."""
        if beam.upcoming is not None:
            return beam.upcoming
        said = await writer.continue_text(
            layout(self._instruction(question), beam.raw),
            role="decide_retrieve",
            limit=1,
            alternatives=ALTERNATIVES,
        )
        return first_reading(said, RETRIEVE)

    async def extend(self, question: str, style: AnswerStyle, branch: Branch, writer: Writer) -> Draft:
        opening = _opening(branch)
        said = await writer.continue_text(
            layout(self._instruction(question), branch.beam.raw + opening),
            role="generate_plain" if branch.passage is None else "generate_segment",
            limit=self.params.segment_tokens,
            alternatives=ALTERNATIVES,
        )
        long = self.params.mode_for(style) == "long"
        written = read(said, tuple(RETRIEVE) if long else ("[Retrieval]",))
        text, abstained, fault = self._answer(written.text)
        critique = written.critique
        if branch.passage is None:
            critique = Critique(utility=critique.utility)
        elif branch.action == "continue" and branch.relevance and critique.relevance and not critique.relevance.label:
            # Of evidence in hand the token was emitted when it was new.
            critique = replace(critique, relevance=branch.relevance)
        return replace(
            written,
            text="" if abstained and branch.beam.segments else text,
            critique=critique,
            abstained=abstained and not branch.beam.segments,
            raw=opening + written.raw,
            fault=fault,
        )

    def _instruction(self, question: str) -> str:
        return choice_instruction(question, self.params.options) if self.params.options else question

    def _answer(self, text: str) -> tuple[str, bool, str]:
        """Bare answer, whether it abstains, and why there is none."""
        if self.params.options:
            option = match_option(text, self.params.options)
            return (option, False, "") if option else ("", False, f"the reply {text!r} is none of the options")
        try:
            parsed = parse_answer(text)
        except StrategyError as error:
            return "", False, str(error)
        return parsed.text, parsed.abstained, ""


def _opening(branch: Branch) -> str:
    """What the segment is decoded after: the tokens of its Retrieve decision, and the passage where one is new."""
    if branch.passage is None:
        return "[No Retrieval]"
    return "[Continue to Use Evidence]" if branch.action == "continue" else evidence(branch.passage)
