from __future__ import annotations

from arena.metrics.retrieval import evidence_availability
from arena.types import Claim

CLAIMS = (Claim("Tolm was founded by Ilse Brandt.", ("a", "b")), Claim("Tolm lies on the Veyra.", ("c",)))


def test_half_of_two_claims_have_their_evidence() -> None:
    assert evidence_availability(["c", "a", "x"], CLAIMS) == 0.5


def test_a_claim_needs_all_its_documents() -> None:
    assert evidence_availability(["a", "b"], CLAIMS[:1]) == 1.0
    assert evidence_availability(["a"], CLAIMS[:1]) == 0.0
    assert evidence_availability([], CLAIMS) == 0.0


def test_claims_without_documents_are_not_counted() -> None:
    bare = Claim("It is well known.", ())
    assert evidence_availability(["c"], (bare, CLAIMS[1])) == 1.0
    assert evidence_availability(["c"], (bare,)) is None
    assert evidence_availability(["c"], ()) is None
