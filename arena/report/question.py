"""One question: what is right, and what each cell made of it, as text for the page and the terminal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from arena.accounting import Account, Spend, accounts_by_role
from arena.judges.subject import subject_of
from arena.metrics.case import Case
from arena.metrics.failures import FailureClass, FailureFinding, failure_classes
from arena.prices import PriceTable
from arena.report.figures import UNDEFINED
from arena.scoring import CellScores, Usage
from arena.types import (
    ALL_CALLS,
    Answer,
    Decision,
    Document,
    Gold,
    Question,
    RetrievalRequest,
    RunRecord,
    Score,
    Verdict,
    grouped,
)

_PIECE = re.compile(r"#\d{4,}$")  # pieces are named DOCUMENT#0000, DOCUMENT#0001, ...

_LANES = ("dense", "sparse", "rerank")


@dataclass(frozen=True, slots=True)
class GoldDocument:
    """A document with evidence. `title`: None = it is not known. `hops`: numbers from 1; empty = no order is known."""

    doc_id: str
    title: str | None
    hops: tuple[int, ...]

    @property
    def label(self) -> str:
        """As in `hop 2`, `hops 1, 3`, or `gold` where no order is known."""
        if not self.hops:
            return "gold"
        return f"hop{'s' if len(self.hops) > 1 else ''} {', '.join(map(str, self.hops))}"


@dataclass(frozen=True, slots=True)
class DocumentUse:
    """What a document is to one record. `gold`: None = it carries no evidence that is known.

    `used`: it was shown to the call that wrote the answer. `cited`: the answer points to it.
    """

    gold: GoldDocument | None
    used: bool
    cited: bool


def gold_documents(gold: Gold, documents: Mapping[str, Document]) -> tuple[GoldDocument, ...]:
    """The gold documents, in the order of the hops where there is one; what serves no hop stands last."""
    hops = grouped((doc_id, number) for number, doc_id in enumerate(gold.hop_order or (), start=1))
    ids = dict.fromkeys((*hops, *gold.supporting_ids))
    titles = {one: document.title for one in ids if (document := documents.get(one))}
    return tuple(GoldDocument(one, titles.get(one), tuple(hops.get(one, ()))) for one in ids)


def lanes_of(names: Iterable[str]) -> list[str]:
    """Lanes in the order in which a retrieval goes through them, each once; others after them, by name."""
    return sorted(set(names), key=lambda name: (_LANES.index(name) if name in _LANES else len(_LANES), name))


def use_of(doc_id: str, gold: Sequence[GoldDocument], answer: Answer | None) -> DocumentUse:
    """What a document is to a record with that answer."""
    found = next((one for one in gold if one.doc_id == doc_id), None)
    if answer is None:
        return DocumentUse(found, used=False, cited=False)
    return DocumentUse(found, doc_id in answer.used_ids, doc_id in answer.cited_ids)


def gold_beyond(beyond: Sequence[str], gold: Sequence[GoldDocument]) -> list[tuple[int, GoldDocument]]:
    """Where evidence stands among the candidates that k had no room for: (place from 1, document)."""
    by_id = {one.doc_id: one for one in gold}
    if by_id.keys().isdisjoint(beyond) and "#" not in "".join(beyond):
        return []
    named = [by_id.get(one) or by_id.get(_PIECE.sub("", one)) for one in beyond]
    return [(place, found) for place, found in enumerate(named, start=1) if found]


_FINISHED = "stop"  # what most replies end with; it spares the look at how they were cut


@dataclass(frozen=True, slots=True)
class RoleUse:
    """The calls of one role. `spent`: what they used and cost, paid and replayed together.

    `models`: who was asked. `truncated`: replies that the model's own limit cut off.
    """

    role: str
    account: Account
    spent: Spend
    models: tuple[str, ...]
    truncated: int

    @property
    def calls(self) -> int | None:
        """None where one entry stands for all that a foreign system did not list."""
        return None if self.role == ALL_CALLS else self.spent.calls

    @property
    def retries(self) -> int:
        """Requests to the provider beyond one a call."""
        return self.spent.attempts - self.spent.calls

    @property
    def waiting_seconds(self) -> float:
        """Waiting for our own limits, and for the next attempt."""
        return self.account.queue_seconds + self.account.backoff_seconds


def uses_by_role(record: RunRecord, accounts: Mapping[str, Account]) -> tuple[RoleUse, ...]:
    """One entry per role, in the order of `accounts`, which are those of the record's calls."""
    models: dict[str, dict[str, None]] = {}
    for call in record.calls:
        models.setdefault(call.role, {})[call.model] = None
    cut = Counter(call.role for call in record.calls if call.finish_reason != _FINISHED and call.truncated)
    return tuple(
        RoleUse(role, account, whole_of(account), tuple(models.get(role, ())), cut[role])
        for role, account in accounts.items()
    )


def whole_of(account: Account) -> Spend:
    """`account.whole`, which takes its time where there is something to add up."""
    return account.whole if account.replayed.calls else account.paid


@dataclass(frozen=True, slots=True)
class CellPage:
    """What one cell made of one question: its record, and all that was derived from it."""

    record: RunRecord
    scores: tuple[Score, ...]
    finding: FailureFinding
    usage: Usage
    roles: tuple[RoleUse, ...]
    verdicts: tuple[Verdict, ...] = ()

    @classmethod
    def of(
        cls, record: RunRecord, cell: CellScores, prices: PriceTable | None, verdicts: Iterable[Verdict] = ()
    ) -> CellPage:
        """From a record and the scores of its cell. Raises KeyError if the record was not scored."""
        question_id = record.question_id
        usage = cell.usage[question_id]
        if record.calls and not usage.roles:  # a table that was read again has the sums alone
            roles_of_calls = accounts_by_role(record.calls, record.cell, prices)
            replayed = any(call.replayed for call in record.calls)
            usage = replace(usage, roles=roles_of_calls, replayed=replayed)
        roles = uses_by_role(record, usage.roles)
        return cls(record, cell.scores[question_id], cell.failures[question_id], usage, roles, tuple(verdicts))

    @property
    def failure_class(self) -> FailureClass:
        """What the question came to, with the rule that says so."""
        return failure_classes()[self.finding.failure]

    @property
    def retrieval_seconds(self) -> float:
        """What its retrievals took, waiting for others apart; each query embedded afresh."""
        return sum(one.seconds.worked + one.seconds.known_embed for one in self.record.retrievals)


@dataclass(frozen=True, slots=True)
class QuestionPage:
    """A question, its gold, and its cells in the order of the leaderboard. A cell without a record is left out."""

    question: Question
    gold: Gold
    gold_documents: tuple[GoldDocument, ...]
    cells: tuple[CellPage, ...]


def current_verdicts(case: Case, verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """Those that were made of what is in `case`: its record may have been asked again since."""
    sha = subject_of(case).sha
    return tuple(one for one in verdicts if one.subject_sha == sha)


_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
"""As in `dom.js`: C0 and C1, marks that set a direction, spaces of no width, halves of a pair."""


def figure_text(figure: float | None) -> str:
    """A score, a threshold or seconds to three digits that count, without an exponent; 0.5 stays 0.5."""
    if figure is None:
        return UNDEFINED
    text = f"{figure:.3g}"
    return f"{Decimal(text):f}" if "e" in text else text


def request_text(request: RetrievalRequest) -> str:
    """How an index was asked, the query apart: `hybrid, k 5, depth 50, rrf 60`."""
    parts = [request.mode]
    if request.k is not None:
        parts.append(f"k {request.k}")
    if request.depth is not None:
        parts.append(f"depth {request.depth}")
    if request.fusion is not None:
        parts.append(request.fusion + (f" {request.rrf_k}" if request.rrf_k is not None else ""))
    if request.lane_weights is not None:
        parts.append("weights " + " : ".join(map(figure_text, request.lane_weights)))
    if request.threshold is not None:
        parts.append(f"threshold {figure_text(request.threshold)}")
    return ", ".join(parts)


def changed_text(decision: Decision) -> str:
    """What a branch altered: `evidence, answer`, or `nothing`."""
    return ", ".join(decision.changed) or "nothing"


def visible_text(text: str) -> str:
    """`text` with its control characters by their code points, as in `<U+202E>`: none moves a cursor or turns a line.

    Line ends and tabs stay; so do the joiners of emoji and of some scripts.
    """
    return _CONTROL.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)
