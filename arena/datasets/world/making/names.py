"""Names that no one has ever borne: a phonotactic word maker and the shapes its words take."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from arena.datasets.world.grammar import Kind


def _listed(words: str) -> tuple[str, ...]:
    return tuple(words.split())


_ONSETS = _listed("b br c ch d dr f fl g gl gr h j k kl l m n p pr qu r s sk sl st t th tr v w y z")
_NUCLEI = _listed("a e i o u ae ei ia oa ou")
_MIDDLES = _listed("b d dr g l ld lm ln m mb n nd nth r rd rl rn rth s sk st t v vr z")
_CODAS = _listed("l ld m n nd nt r rn rth s sk ss st th x")
_SECOND_WORDS = _listed("Vale Hollow Marsh Ember Lark Thorne Moor Wick Ashe Fenn Heath Locke Rowe Stroud Wilde Hale")

KNOWN_WORDS = frozenset(
    _listed(
        "adele anderson austin barcelona bella berlin boston brandon brent brest britain calvin canada cardin "
        "carmen carol chelsea chile cleveland coral coran corinth dallas daniel darwin david denis denver derby "
        "diana dorset dover dresden dublin edison egypt elena elvis exeter florence france galileo geneva ghent "
        "gotham grant greece hamburg hamlet harold havana helen helsinki henry holland houston ireland israel "
        "jordan joseph karen kenya kevin kingston koran lebanon leeds lenin lennon leon lincoln lisbon london "
        "luther macbeth madrid malta manila marina marlin martin marx medina melissa mercury merlin mexico milan "
        "modena monaco mordor morgan moscow moses mozart munich natalia nepal nevada newton nixon norman norwich "
        "orion oslo oxford panama parana paris pegasus persia perth plato poland prussia qatar quebec ramona "
        "reagan regina robert robin roman romania rome russia sabina salem saturn seoul serena severn sicily "
        "sidon simon sinai sparta stalin stella stirling sweden sydney syria teresa thames tibet titan toledo "
        "tolstoy trent tristan trotsky troy turin turkey valencia venus vermont verona victoria vienna virgil "
        "virginia vivian wagner walden wales warsaw weston winston yemen york zeland zion zurich "
    )
)
"""Well-known real names and places the word maker could otherwise hit; lower case."""

_REUSED = 0.45
_KIN = 0.4


class Namer:
    """Hands out names, each at most once for things of one kind.

    Names often take up a word that another name already has, so that near-identical names are common.
    """

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._made: set[str] = set()
        self._words: list[str] = []
        self._families: list[str] = []
        self._taken: set[tuple[str, str]] = set()

    def fresh_word(self) -> str:
        """A capitalised word never handed out before and not in the list of known words."""
        rng = self._rng
        while True:
            word = rng.choice(_ONSETS) + rng.choice(_NUCLEI) + rng.choice(_MIDDLES) + rng.choice(_NUCLEI)
            word += rng.choice(_CODAS) if rng.random() < 0.7 else ""
            if word not in self._made and word not in KNOWN_WORDS:
                self._made.add(word)
                return word.capitalize()

    def shared_title(self) -> str:
        """A two-word name that fits every kind."""
        return f"{self.fresh_word()} {self._rng.choice(_SECOND_WORDS)}"

    def name(self, kind: Kind) -> str:
        """A name in one of the kind's shapes."""
        while True:
            shape = self._rng.choice(kind.names)
            name = self._person() if "{given}" in shape else shape.format(word=self._word())
            if self.claim(kind, name):
                return name

    def claim(self, kind: Kind, name: str) -> bool:
        """Whether the name was still free for this kind; it no longer is."""
        if (kind.key, name) in self._taken:
            return False
        self._taken.add((kind.key, name))
        return True

    def _word(self) -> str:
        if self._words and self._rng.random() < _REUSED:
            return self._rng.choice(self._words)
        self._words.append(self.fresh_word())
        return self._words[-1]

    def _person(self) -> str:
        if not self._families or self._rng.random() < 1 - _KIN:
            self._families.append(self.fresh_word())
            self._words.append(self._families[-1])
            return f"{self.fresh_word()} {self._families[-1]}"
        return f"{self.fresh_word()} {self._rng.choice(self._families)}"


def core_word(kind: Kind, name: str) -> str:
    """The word that a name turns on: a person's last name, a name without its title words."""
    return [word for word in name.split() if word not in kind.title_words][-1]


def aliases(kind: Kind, name: str, bearers: Mapping[str, int]) -> tuple[str, ...]:
    """The core word as a shorter form of a name, if it occurs in no other name.

    `bearers` says in how many names a word occurs.
    """
    core = core_word(kind, name)
    return (core,) if core != name and bearers[core] == 1 else ()
