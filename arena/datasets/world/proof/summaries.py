"""The proof of one summary question."""

from __future__ import annotations

from collections.abc import Iterator

from arena.datasets.world.promises import REFERENCE_WORDS, SUMMARY_DOCUMENTS
from arena.datasets.world.proof.evidence import Evidence
from arena.datasets.world.proof.understanding import understand_claim, understand_summary
from arena.datasets.world.query import Leaf
from arena.types import Claim, Gold, Question


def check_summary(question: Question, gold: Gold, evidence: Evidence) -> Iterator[str]:
    """Exactly the gold documents speak of the subject; each makes one claim of the reference, and alone supports it."""
    key = question.question_id
    requests = [request for request in understand_summary(question.text) if evidence.mentioning(request[0])]
    if len(requests) != 1:
        yield f"{key}: {len(requests)} readings of the request {question.text!r}"
        return
    subject, themes = requests[0]
    speaking = evidence.mentioning(subject)
    if len(speaking) != SUMMARY_DOCUMENTS or speaking != set(gold.supporting_ids):
        yield f"{key}: {sorted(speaking)} speak of {subject.name!r}, the gold says {gold.supporting_ids}"
    if tuple(claim.supporting_ids for claim in gold.claims) != tuple((doc_id,) for doc_id in gold.supporting_ids):
        yield f"{key}: the claims are not one for each supporting document"
    if gold.answers != (" ".join(claim.text for claim in gold.claims),):
        yield f"{key}: the reference is not made of the claims"
    words = sum(len(claim.text.split()) for claim in gold.claims)
    if not REFERENCE_WORDS[0] <= words <= REFERENCE_WORDS[1]:
        yield f"{key}: a reference of {words} words"
    told = [thing.kind for claim in gold.claims for thing, _ in understand_claim(claim.text)]
    if sorted(told) != sorted((subject.kind, *themes)):
        yield f"{key}: the claims are about {told}, the request about {subject.kind} and {themes}"
    for claim in gold.claims:
        yield from _check_claim(key, claim, subject, evidence)


def _check_claim(key: str, claim: Claim, subject: Leaf, evidence: Evidence) -> Iterator[str]:
    readings = understand_claim(claim.text)
    if len(readings) != 1:
        yield f"{key}: {len(readings)} readings of the claim {claim.text!r}"
        return
    thing, stated = readings[0]
    if thing != subject and not any(value == subject.name for _, value in stated):
        yield f"{key}: the claim {claim.text!r} is not about {subject.name!r}"
    for relation, value in stated:
        tellers = [fact.doc_id for fact in evidence.stating(relation, thing.name) if fact.value == value]
        if tuple(tellers) != claim.supporting_ids:
            yield f"{key}: {relation} {value!r} is told by {tellers}, not by {claim.supporting_ids} alone"
