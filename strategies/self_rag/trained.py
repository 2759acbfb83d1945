"""Self-RAG over its own checkpoints (T2): one decoding pass writes a segment and criticises it."""

from __future__ import annotations

from dataclasses import dataclass

from arena.errors import StrategyError
from arena.protocols import Writer
from arena.types import AnswerStyle, was_cut
from strategies.parsing import parse_answer
from strategies.self_rag import checkpoint
from strategies.self_rag.params import SelfRagParams
from strategies.self_rag.state import Beam, Branch, Critique, Draft, Reading


@dataclass(frozen=True, slots=True)
class TrainedCritic:
    """A `Critic` that decodes."""

    params: SelfRagParams

    async def decide(self, question: str, beam: Beam, writer: Writer) -> Reading:
        """The Retrieve token: the one that ended the last segment, else that of one more decoding step."""
        if beam.upcoming is not None:
            return beam.upcoming
        said = await writer.continue_text(
            checkpoint.layout(self._instruction(question), beam.raw),
            role="decide_retrieve",
            limit=1,
            alternatives=checkpoint.ALTERNATIVES,
        )
        return checkpoint.first_reading(said, checkpoint.RETRIEVE)

    async def extend(self, question: str, style: AnswerStyle, branch: Branch, writer: Writer) -> Draft:
        opening = _opening(branch)
        said = await writer.continue_text(
            checkpoint.layout(self._instruction(question), branch.beam.raw + opening),
            role="generate_plain" if branch.passage is None else "generate_segment",
            limit=self.params.segment_tokens,
            alternatives=checkpoint.ALTERNATIVES,
        )
        long = self.params.mode_for(style) == "long"
        written = checkpoint.read(said, tuple(checkpoint.RETRIEVE) if long else ("[Retrieval]",))
        text, abstained, fault = self._answer(written.text)
        shown = branch.passage is not None
        relevance = written.relevance
        if branch.action == "continue" and relevance.label is None:
            relevance = branch.relevance or relevance  # of evidence in hand the token was emitted when it was new
        return Draft(
            text="" if abstained and branch.beam.segments else text,
            critique=Critique(
                relevance=relevance if shown else None,
                support=written.support if shown else None,
                utility=written.utility,
            ),
            mean_logprob=written.mean_logprob,
            done=written.upcoming is None and not was_cut(said.finish_reason),
            abstained=abstained and not branch.beam.segments,
            raw=opening + written.raw,
            upcoming=written.upcoming,
            fault=fault,
        )

    def _instruction(self, question: str) -> str:
        return checkpoint.choice_instruction(question, self.params.options) if self.params.options else question

    def _answer(self, text: str) -> tuple[str, bool, str]:
        """Bare answer, whether it abstains, and why there is none."""
        if self.params.options:
            option = checkpoint.match_option(text, self.params.options)
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
    return "[Continue to Use Evidence]" if branch.action == "continue" else checkpoint.evidence(branch.passage)
