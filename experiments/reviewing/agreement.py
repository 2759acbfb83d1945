"""How far reviewers agree: with one another, with themselves, and with what else calls an answer right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import nextafter

from arena.leaderboard.judge_card import RIGHT_ABOVE
from arena.plan import Key
from arena.statistics.intervals import cohens_kappa, krippendorffs_alpha
from experiments.reviewing.ratings import Rating
from experiments.reviewing.rubric import CORRECT, SUPPORTED, Mark

Voices = Mapping[str, Mark]
"""Rater -> what the rater says of one answer by one criterion."""

Bar = tuple[str, float]
"""A metric, and the value above which it says yes."""

COUNTERPARTS: Mapping[str, Sequence[Bar]] = {
    CORRECT: (("answer_em", RIGHT_ABOVE), ("answer_accuracy", RIGHT_ABOVE), ("answer_correctness", RIGHT_ABOVE)),
    SUPPORTED: (("faithfulness", nextafter(1.0, 0.0)),),
}
"""Criterion -> the metrics that ask the same. Faithfulness is a share of statements, and the criterion asks for all."""


@dataclass(frozen=True, slots=True)
class Concord:
    """Two that say yes or no to the same `n` answers. `share` that they agree on: None for n = 0.

    `kappa`: Cohen's; None where both say one and the same throughout. `only_first`, `only_second`: yes by one alone.
    """

    first: str
    second: str
    n: int
    share: float | None
    kappa: float | None
    only_first: int
    only_second: int


@dataclass(frozen=True, slots=True)
class Constancy:
    """One rater over answers judged more than once.

    `share`: of all pairs of judgements of one answer, those that agree; `alpha`: Krippendorff's, the repeats taken for
    raters.
    """

    rater: str
    n: int
    share: float
    alpha: float | None


@dataclass(frozen=True, slots=True)
class CriterionReview:
    """What a review says by one criterion.

    `n`: answers that anybody marked; of these reviewers say yes, no or not applicable by majority, and are `tied` on
    the rest. `shared`: answers to which two raters or more say yes or no; `alpha`: Krippendorff's on these. `mixed`:
    answers to which it applies for some raters and not for others; these marks of `na` are in no other figure.
    """

    criterion: str
    n: int
    yes: int
    no: int
    not_applicable: int
    tied: int
    shared: int
    alpha: float | None
    mixed: int
    raters: tuple[Concord, ...]
    within: tuple[Constancy, ...]
    others: tuple[Concord, ...]


def voices(ratings: Iterable[Rating], criterion: str) -> dict[Key, Voices]:
    """Answer -> what each rater says: of repeats, the commonest mark; a rater with no commonest says nothing."""
    marks: dict[Key, dict[str, list[Mark]]] = {}
    for rating in ratings:
        if mark := rating.marks.get(criterion):
            marks.setdefault(rating.place, {}).setdefault(rating.rater, []).append(mark)
    return {
        place: {rater: mark for rater, given in by_rater.items() if (mark := commonest(given))}
        for place, by_rater in marks.items()
    }


def commonest(marks: Iterable[Mark]) -> Mark | None:
    """The mark that is there most often; None for none, and where two are as often."""
    ranked = Counter(marks).most_common(2)
    tied = len(ranked) == 2 and ranked[0][1] == ranked[1][1]
    return ranked[0][0] if ranked and not tied else None


def review_criterion(
    criterion: str, ratings: Sequence[Rating], scores: Mapping[str, Mapping[Key, float]]
) -> CriterionReview:
    """Everything about one criterion. `scores`: metric -> answer -> value, of answers that have one."""
    said = voices(ratings, criterion)
    people = {place: commonest(by_rater.values()) for place, by_rater in said.items()}
    found = Counter(people.values())
    binary = {place: {rater: mark for rater, mark in one.items() if mark != "na"} for place, one in said.items()}
    names = sorted({rater for by_rater in said.values() for rater in by_rater})
    decided = {place: mark == "y" for place, mark in people.items() if mark in ("y", "n")}
    return CriterionReview(
        criterion=criterion,
        n=len(people),
        yes=found["y"],
        no=found["n"],
        not_applicable=found["na"],
        tied=found[None],
        shared=sum(len(one) > 1 for one in binary.values()),
        alpha=krippendorffs_alpha([list(one.values()) for one in binary.values()]),
        mixed=sum("na" in one.values() and len(set(one.values())) > 1 for one in said.values()),
        raters=tuple(
            concord(a, b, [(one[a] == "y", one[b] == "y") for one in binary.values() if a in one and b in one])
            for a, b in combinations(names, 2)
        ),
        within=tuple(_within(ratings, criterion)),
        others=tuple(
            concord(
                metric,
                "people",
                [(scores[metric][place] > bar, yes) for place, yes in decided.items() if place in scores[metric]],
            )
            for metric, bar in COUNTERPARTS.get(criterion, ())
            if metric in scores
        ),
    )


def concord(first: str, second: str, pairs: Sequence[tuple[bool, bool]]) -> Concord:
    """Compare two by what they say of each thing."""
    ours, theirs = [one for one, _ in pairs], [two for _, two in pairs]
    return Concord(
        first=first,
        second=second,
        n=len(pairs),
        share=sum(one == two for one, two in pairs) / len(pairs) if pairs else None,
        kappa=cohens_kappa(ours, theirs),
        only_first=sum(one and not two for one, two in pairs),
        only_second=sum(two and not one for one, two in pairs),
    )


def _within(ratings: Sequence[Rating], criterion: str) -> Iterable[Constancy]:
    """Of each rater who said yes or no to any answer more than once."""
    repeated: dict[str, dict[Key, list[Mark]]] = {}
    for rating in ratings:
        mark = rating.marks.get(criterion)
        if mark in ("y", "n"):
            repeated.setdefault(rating.rater, {}).setdefault(rating.place, []).append(mark)
    for rater, by_place in sorted(repeated.items()):
        units = [marks for marks in by_place.values() if len(marks) > 1]
        pairs = [one == two for marks in units for one, two in combinations(marks, 2)]
        if pairs:
            yield Constancy(rater, len(units), sum(pairs) / len(pairs), krippendorffs_alpha(units))
