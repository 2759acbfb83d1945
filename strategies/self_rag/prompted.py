"""Self-RAG over any language model: reflections asked for one by one (T0 labels, T1 their probabilities)."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any

from arena.errors import StrategyError
from arena.protocols import Continuation, Message, TokenChoice, Writer
from arena.types import AnswerStyle, Passage, was_cut
from strategies.answer_prompt import answer_prompt
from strategies.parsing import parse_answer, spoken
from strategies.self_rag import prompts
from strategies.self_rag.params import SelfRagParams
from strategies.self_rag.sentences import next_sentence
from strategies.self_rag.state import Beam, Branch, Critique, Draft, Reading
from strategies.together import both


@dataclass(frozen=True, slots=True)
class PromptedCritic:
    """A `Critic` that asks."""

    params: SelfRagParams

    async def decide(self, question: str, beam: Beam, writer: Writer) -> Reading:
        messages, labels = prompts.ask_retrieve(question, beam.text, beam.evidence)
        return await self._judge(messages, labels, "decide_retrieve", writer)

    async def extend(self, question: str, style: AnswerStyle, branch: Branch, writer: Writer) -> Draft:
        """Relevance beside the segment, which do not depend on one another; then support beside utility."""
        passage, so_far = branch.passage, branch.beam.text
        if passage is None:
            draft = await self._write(question, style, branch, writer)
            if not draft.text:
                return draft
            return replace(draft, critique=Critique(utility=await self._utility(question, so_far, draft, writer)))
        relevance, draft = await both(
            self._relevance(question, passage, branch.relevance, writer), self._write(question, style, branch, writer)
        )
        if not draft.text:
            return replace(draft, critique=Critique(relevance))
        support, utility = await both(
            self._judge(prompts.ask_support(question, passage, draft.text), prompts.SUPPORT, "judge_support", writer),
            self._utility(question, so_far, draft, writer),
        )
        return replace(draft, critique=Critique(relevance, support, utility))

    async def _relevance(self, question: str, passage: Passage, known: Reading | None, writer: Writer) -> Reading:
        if known is not None:
            return known
        return await self._judge(prompts.ask_relevance(question, passage), prompts.RELEVANCE, "judge_relevance", writer)

    def _utility(self, question: str, so_far: str, draft: Draft, writer: Writer) -> Coroutine[Any, Any, Reading]:
        whole = f"{so_far} {draft.text}".strip()
        return self._judge(prompts.ask_utility(question, whole), prompts.UTILITY, "judge_utility", writer)

    async def _judge(self, messages: Sequence[Message], labels: Sequence[str], role: str, writer: Writer) -> Reading:
        said = await writer.classify(messages, labels, role=role)
        if said.probabilities is not None and self.params.judge == "probabilities":
            return Reading(said.label, said.probabilities, "T1")
        return Reading(said.label, {} if said.label is None else {said.label: 1.0}, "T0")

    async def _write(self, question: str, style: AnswerStyle, branch: Branch, writer: Writer) -> Draft:
        shown = () if branch.passage is None else (branch.passage,)
        role = "generate_segment" if shown else "generate_plain"
        mode = self.params.mode_for(style)
        if mode == "closed_set":
            return await self._choose(question, shown, role, writer)
        so_far = branch.beam.text
        long = mode == "long"
        messages = prompts.ask_segment(question, shown, so_far) if long else answer_prompt(question, shown, style)
        if not long:
            return _whole(await writer.draft(messages, role=role, logprobs=self.params.sequence_term))
        limit = self.params.segment_tokens
        said = await writer.draft(messages, role=role, limit=limit, logprobs=self.params.sequence_term)
        if was_cut(said.finish_reason) and not _speaks(said.text):  # a model that thinks first needs more room
            said = await writer.draft(messages, role=role, logprobs=self.params.sequence_term)
        return _segment(said, so_far)

    async def _choose(self, question: str, shown: Sequence[Passage], role: str, writer: Writer) -> Draft:
        messages, letters = prompts.ask_option(question, shown, self.params.options)
        said = await writer.classify(messages, letters, role=role)
        if said.label is None:
            return Draft("", fault="the model's choice among the options could not be read")
        return Draft(self.params.options[letters.index(said.label)])


def _speaks(reply: str) -> bool:
    """Whether it says anything beside reasoning."""
    try:
        return bool(spoken(reply))
    except StrategyError:
        return False


def _whole(said: Continuation) -> Draft:
    """A short answer: the reply as vanilla reads it."""
    try:
        parsed = parse_answer(said.text)
    except StrategyError as error:
        return Draft("", fault=str(error))
    return Draft(parsed.text, mean_logprob=said.mean_logprob, abstained=parsed.abstained)


def _segment(said: Continuation, so_far: str) -> Draft:
    """The next sentence of a long answer; the text is complete when the model wrote no more than that.

    An abstention is a whole answer at the beginning, and nothing to add later on.
    """
    try:
        parsed = parse_answer(said.text)
    except StrategyError as error:
        return Draft("", fault=str(error))
    if parsed.abstained:
        return Draft("" if so_far else parsed.text, mean_logprob=said.mean_logprob, abstained=not so_far)
    sentence, more = next_sentence(parsed.text, so_far)
    done = not more and not was_cut(said.finish_reason)
    return Draft(sentence, mean_logprob=_mean_logprob(said.tokens, said.text, sentence), done=done)


def _mean_logprob(tokens: Sequence[TokenChoice], said: str, sentence: str) -> float | None:
    """Mean over the tokens up to the end of the kept sentence; over all, where it is not found as it stands."""
    start = said.find(sentence)
    end = start + len(sentence) if start >= 0 else len(said)
    kept: list[float] = []
    length = 0
    for token in tokens:
        if length >= end:
            break
        kept.append(token.logprob)
        length += len(token.text)
    return sum(kept) / len(kept) if kept else None
