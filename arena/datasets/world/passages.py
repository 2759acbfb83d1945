"""Write the texts of a world: passages of 40 to 140 words, reference accounts, and the wording of questions.

An account makes five claims about its subject, each told by one document alone. A question is made of nested noun
phrases, never of the words of the passages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from arena.datasets.world.grammar import PASSAGE_WORDS, REFERENCE_WORDS, Leaf, Query, Step, Template, capitalised
from arena.datasets.world.graph import YEARS, Graph, Thing
from arena.datasets.world.lexicon import lexicon

_TARGET_WORDS = (58, 112)
_SENTENCE_ROOM = 24
_PRONOUNS: tuple[Mapping[str, str], ...] = (
    {"he": "he", "his": "his", "him": "him"},
    {"he": "she", "his": "her", "him": "her"},
)


def passage(thing: Thing, rng: Random) -> str:
    """A text that states every fact of the thing exactly once, among filler, and nothing else of the graph."""
    pronouns = rng.choice(_PRONOUNS)
    templates = _facts_told(thing, rng)
    sentences = [_sentence(template, thing, pronouns, rng) for template in templates]
    target = rng.randint(*_TARGET_WORDS)
    fillers = rng.sample(thing.kind.fillers, len(thing.kind.fillers))
    words = sum(len(sentence.split()) for sentence in sentences)
    while fillers and words < min(target, PASSAGE_WORDS[1] - _SENTENCE_ROOM):
        sentence = _sentence(fillers.pop(), thing, pronouns, rng)
        sentences.insert(rng.randint(1, len(sentences)), sentence)
        words += len(sentence.split())
    return " ".join(f"{sentence}." for sentence in sentences)


def running_name(value: Thing | int) -> str:
    """A value as it stands in running text: digits, or a name with its article."""
    return str(value) if isinstance(value, int) else f"{value.kind.article}{value.name}"


def _facts_told(thing: Thing, rng: Random) -> list[Template]:
    """An opening and sentences that between them state each fact once."""
    untold = set(thing.facts)
    told: list[Template] = []
    options = thing.kind.openings
    while not told or untold:
        fitting = [template for template in options if (template.told or not told) and template.told <= untold]
        template = rng.choice(fitting)
        untold -= template.told
        told.append(template)
        options = thing.kind.sentences
    return [told[0], *rng.sample(told[1:], len(told) - 1)]


def _sentence(template: Template, thing: Thing, pronouns: Mapping[str, str], rng: Random) -> str:
    def value(slot: str) -> str:
        if slot in thing.facts:
            return running_name(thing.facts[slot])
        if slot in pronouns:
            return pronouns[slot]
        if slot == "s":
            return running_name(thing)
        if slot == "short":
            return thing.name.rpartition(" ")[2]
        return _filler_word(slot[1:], _own_year(thing), rng)

    return capitalised(template.fill(value))


def _own_year(thing: Thing) -> int | None:
    years = (thing.facts.get(relation.key) for relation in thing.kind.relations if relation.value == "year")
    return next((year for year in years if isinstance(year, int)), None)


def _filler_word(vocabulary: str, own_year: int | None, rng: Random) -> str:
    """A word of a list; a year comes some decades after the thing's own."""
    if vocabulary == "year":
        return str(rng.randint(*YEARS) if own_year is None else own_year + rng.randint(18, 60))
    if vocabulary == "number":
        return str(rng.randint(40, 900))
    return rng.choice(lexicon().vocabulary[vocabulary])


_SUMMARY_WORDS = 96


def teller_documents(graph: Graph, subject: Thing) -> list[Thing]:
    """The subject and the four things whose documents speak of it."""
    return [subject, *(source for source, _ in graph.pointing_at[subject])]


def claims(tellers: Sequence[Thing], rng: Random) -> list[str]:
    """One sentence a document, together about a hundred words; the first teller is the subject.

    Each claim starts from what its document says of the subject and takes up further facts of the
    document in turn until the account is long enough.
    """
    subject = tellers[0]
    told = [_order(teller, subject, rng) for teller in tellers]
    shares = [1] * len(tellers)
    while sum(map(_words, _sentences(tellers, told, shares))) < _SUMMARY_WORDS:
        wider = _widened(tellers, told, shares)
        if wider is None:
            break
        shares = wider
    return _sentences(tellers, told, shares)


def _widened(tellers: Sequence[Thing], told: Sequence[Sequence[str]], shares: Sequence[int]) -> list[int] | None:
    """One more fact for the claim that has fewest, if some claim has one left and the account stays short enough."""
    open_claims = [number for number in range(len(tellers)) if shares[number] < len(told[number])]
    for number in sorted(open_claims, key=lambda number: shares[number]):
        wider = [share + (place == number) for place, share in enumerate(shares)]
        if sum(map(_words, _sentences(tellers, told, wider))) <= REFERENCE_WORDS[1]:
            return wider
    return None


def _order(teller: Thing, subject: Thing, rng: Random) -> list[str]:
    about = [key for key, value in teller.facts.items() if value is subject]
    other = [key for key in teller.facts if key not in about]
    return [*about, *rng.sample(other, len(other))]


def _sentences(tellers: Sequence[Thing], told: Sequence[Sequence[str]], shares: Sequence[int]) -> list[str]:
    return [_claim(teller, keys[:share]) for teller, keys, share in zip(tellers, told, shares, strict=True)]


def _claim(teller: Thing, keys: Sequence[str]) -> str:
    predicates = [_predicate(teller, key) for key in keys]
    *before, last = predicates
    said = f"{', '.join(before)} and {last}" if before else last
    return f"{capitalised(teller.kind.label)}{teller.name} {said}."


def _predicate(teller: Thing, key: str) -> str:
    return teller.kind.by_key[key].says.fill(lambda _: running_name(teller.facts[key]))


def _words(text: str) -> int:
    return len(text.split())


def ask(query: Step, rng: Random) -> str:
    """One of the query's many wordings, a whole question."""
    return _put(_suited(lexicon().relations[query.relation].asks, query.of, rng), _phrase(query.of, rng))


def ask_summary(tellers: Sequence[Thing], rng: Random) -> str:
    """A request for an account of the first teller, which says what kinds of thing the others are."""
    subject, *others = tellers
    *nouns, last = (f"a {other.kind.asked_as}" for other in others)
    asked = {"x": f"{subject.kind.label}{subject.name}", "themes": f"{', '.join(nouns)} and {last}"}
    return rng.choice(lexicon().summary_requests).fill(asked.__getitem__)


def _phrase(query: Query, rng: Random) -> str:
    if isinstance(query, Leaf):
        return f"{lexicon().kinds[query.kind].article}{query.name}"
    if isinstance(query, Step):
        return _put(_suited(lexicon().relations[query.relation].phrases, query.of, rng), _phrase(query.of, rng))
    noun = lexicon().kinds[query.first.relation.partition(".")[0]].asked_as
    return f"the {noun} {_clause(query.first, rng)} and {_clause(query.second, rng)}"


def _clause(query: Step, rng: Random) -> str:
    clause = lexicon().relations[query.relation].clause
    assert clause is not None
    return _put(clause, _phrase(query.of, rng))


def _suited(templates: Sequence[Template], argument: Query, rng: Random) -> Template:
    """Any template around a bare name; around a longer phrase one that ends with it, so that nesting stays readable."""
    closing = [template for template in templates if template.text.rstrip("?").endswith("{x}")]
    return rng.choice(templates if isinstance(argument, Leaf) else closing)


def _put(template: Template, phrase: str) -> str:
    return template.fill(lambda _: phrase)
