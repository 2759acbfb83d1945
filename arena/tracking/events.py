"""What happened to one question as events: the question, and in it every retrieval, call and decision with its times.

Times are seconds since the question's start.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from arena.tracking.source import CorpusTexts
from arena.types import Decision, Failure, Hit, LLMCall, Retrieval, RunRecord
from arena.types.evidence import Activity

Period = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Moment:
    """When a decision was taken.

    `of_its_call`: at the end of the call that it rests on; else guessed from the order of decisions, which is all that
    the journal keeps of their time.
    """

    seconds: float
    of_its_call: bool


@dataclass(frozen=True, slots=True)
class Timeline:
    """One entry for each of the record's retrievals, calls and decisions, in the record's order."""

    retrievals: tuple[Period, ...]
    calls: tuple[Period, ...]
    decisions: tuple[Moment, ...]


def timeline(record: RunRecord) -> Timeline:
    """What the journal tells of when things happened; an activity without a start follows the one before it."""
    retrievals = _periods([one.seconds.activity for one in record.retrievals])
    calls = _periods([one.activity for one in record.calls])
    anchors = _anchors(record, calls)
    ends = sorted(end for _, end in (*retrievals, *calls))
    return Timeline(retrievals, calls, _moments(anchors, ends))


def _periods(activities: Sequence[Activity]) -> tuple[Period, ...]:
    periods: list[Period] = []
    for one in activities:
        start = one.start if one.start is not None else periods[-1][1] if periods else 0.0
        periods.append((start, start + one.waiting + one.service))
    return tuple(periods)


def _anchors(record: RunRecord, calls: Sequence[Period]) -> list[float | None]:
    """The end of the call that a decision rests on, where its node asked as often as it decided; else None."""
    ends: dict[str, list[float]] = {}
    for call, (_, end) in zip(record.calls, calls, strict=True):
        ends.setdefault(call.role, []).append(end)
    times = Counter(decision.node for decision in record.decisions)
    left = {node: iter(ends[node]) for node, n in times.items() if len(ends.get(node, ())) == n}
    return [next(left[decision.node]) if decision.node in left else None for decision in record.decisions]


def _moments(anchors: Sequence[float | None], ends: Sequence[float]) -> tuple[Moment, ...]:
    """Decisions without an anchor are spread, in order, over the ends of activities between their neighbours."""
    moments: list[Moment] = []
    reached = 0.0
    for _, some in groupby(anchors, lambda anchor: anchor is None):
        group = list(some)
        known = [anchor for anchor in group if anchor is not None]
        if known:
            moments += [Moment(anchor, of_its_call=True) for anchor in known]
            reached = max(reached, *known)
        else:
            after = anchors[len(moments) + len(group) :]
            bound = next((anchor for anchor in after if anchor is not None), math.inf)
            between = [end for end in ends if reached < end <= bound] or [reached]
            moments += [
                Moment(between[_share(i, len(group), len(between))], of_its_call=False) for i in range(len(group))
            ]
    return tuple(moments)


def _share(index: int, n: int, places: int) -> int:
    """The place, of so many, for the thing `index` of `n`, evenly and in order; the last thing gets the last place."""
    return math.ceil((index + 1) * places / n) - 1


@dataclass(frozen=True, slots=True)
class Event:
    """A span to be: seconds since the question's start, and what went in and came out, as JSON can hold it.

    `error`: what went wrong (None = nothing). `attributes`: names under `mlflow.` mean something to MLflow's pages.
    """

    name: str
    kind: str
    period: Period
    inputs: Any
    outputs: Any
    attributes: Mapping[str, Any]
    error: str | None = None


def events_of(record: RunRecord, found: Mapping[str, Any], texts: CorpusTexts) -> list[Event]:
    """The question first, then what happened in it, by its start; decisions after what they rest on.

    `found`: what scoring found out about the question, by name.
    """
    times = timeline(record)
    gold = texts.gold.get(record.question_id)
    supporting = frozenset(gold.supporting_ids) if gold else None
    below = [
        *(
            _retrieval(one, period, supporting, texts)
            for one, period in zip(record.retrievals, times.retrievals, strict=True)
        ),
        *(_call(one, period) for one, period in zip(record.calls, times.calls, strict=True)),
        *(_decision(one, moment) for one, moment in zip(record.decisions, times.decisions, strict=True)),
    ]
    return [_question(record, found, texts), *sorted(below, key=lambda event: event.period[0])]


def _question(record: RunRecord, found: Mapping[str, Any], texts: CorpusTexts) -> Event:
    question, gold = texts.questions.get(record.question_id), texts.gold.get(record.question_id)
    known = {name: value for name, value in found.items() if value is not None}
    outputs: dict[str, Any] = {"outcome": record.outcome, "failure_class": found.get("failure")}
    if record.answer is not None:
        outputs |= asdict(record.answer)
    if record.failure is not None:
        outputs |= {"failed": asdict(record.failure)}
    if gold is not None:
        outputs["gold"] = {"answers": gold.answers, "supporting_ids": gold.supporting_ids}
    return Event(
        name=record.question_id,
        kind="CHAIN",
        period=(0.0, record.wall_seconds),
        inputs={"question": question.text if question else record.question_id},
        outputs=outputs,
        attributes={
            "cell": record.cell.key,
            "params": dict(record.cell.params),
            "warm_up": record.warm_up,
            "scores": known,
        },
        error=_reason(record.failure),
    )


def _reason(failure: Failure | None) -> str | None:
    return f"{failure.stage}: {failure.type}: {failure.message}" if failure else None


def _retrieval(one: Retrieval, period: Period, supporting: frozenset[str] | None, texts: CorpusTexts) -> Event:
    brought = {hit.doc_id for hit in one.hits}
    return Event(
        name=f"retrieve {one.request.mode}",
        kind="RETRIEVER",
        period=period,
        inputs={name: value for name, value in asdict(one.request).items() if value is not None},
        outputs=[_document(hit, supporting, texts) for hit in one.hits],
        attributes={
            "seconds": asdict(one.seconds),
            "dropped_by_reranker": [_document(hit, supporting, texts) for hit in one.dropped] or None,
            "gold_not_retrieved": sorted(supporting - brought) if supporting is not None else None,
        },
    )


def _document(hit: Hit, supporting: frozenset[str] | None, texts: CorpusTexts) -> dict[str, Any]:
    """A document as MLflow's pages show one."""
    title, text = texts.of(hit)
    facts = {
        "rank": hit.rank,
        "gold": hit.doc_id in supporting if supporting is not None else None,
        "title": title,
        "score": hit.score,
        "doc_uri": hit.doc_id,
        "lanes": {lane: f"rank {at.rank}, score {at.score}" for lane, at in hit.lanes.items()},
    }
    known = {name: value for name, value in facts.items() if value is not None}
    return {"id": hit.passage_id, "page_content": text or hit.doc_id, "metadata": known}


def _call(one: LLMCall, period: Period) -> Event:
    # Named outside `mlflow.llm.`: MLflow would price a model that it knows by its own list, and not by the run's.
    return Event(
        name=one.role,
        kind="CHAT_MODEL",
        period=period,
        inputs={"role": one.role, "model": one.model, "prompt_sha": one.prompt_sha},
        outputs={
            "finish_reason": one.finish_reason,
            "input_tokens": one.input_tokens,
            "output_tokens": one.output_tokens,
            "error": one.error,
        },
        attributes={
            "mlflow.chat.tokenUsage": usage_of(one),
            **{name: getattr(one, name) for name in ("replayed", "repair", "bounded", "backoff_seconds")},
            "attempts": [asdict(attempt) for attempt in one.attempts],
        },
        error=one.error,
    )


def usage_of(call: LLMCall) -> dict[str, int] | None:
    """A call's tokens by MLflow's names; None when the provider did not tell."""
    if call.input_tokens is None or call.output_tokens is None:
        return None
    usage = {"input_tokens": call.input_tokens, "output_tokens": call.output_tokens}
    usage["total_tokens"] = call.input_tokens + call.output_tokens
    if call.cached_input_tokens is not None:
        usage["cache_read_input_tokens"] = call.cached_input_tokens
    return usage


def _decision(one: Decision, moment: Moment) -> Event:
    known = {name: value for name, value in asdict(one).items() if value not in (None, (), {})}
    return Event(
        name=f"{one.node}: {one.choice}",
        kind="EVALUATOR",
        period=(moment.seconds, moment.seconds),
        inputs={
            name: value for name, value in known.items() if name in ("node", "subject", "score", "threshold", "parts")
        },
        outputs={name: value for name, value in known.items() if name in ("choice", "changed")},
        attributes={
            "tier": one.tier,
            "origin": one.origin,
            "time": "end of its call" if moment.of_its_call else "guessed from order",
        },
    )
