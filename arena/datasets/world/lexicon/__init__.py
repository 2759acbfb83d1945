"""The words of the world: one module a kind of thing, its relations and every sentence pattern about it."""

from __future__ import annotations

from arena.datasets.world.grammar import Kind, Relation
from arena.datasets.world.lexicon.album import ALBUM
from arena.datasets.world.lexicon.bridge import BRIDGE
from arena.datasets.world.lexicon.festival import FESTIVAL
from arena.datasets.world.lexicon.guild import GUILD
from arena.datasets.world.lexicon.instrument import INSTRUMENT
from arena.datasets.world.lexicon.mountain import MOUNTAIN
from arena.datasets.world.lexicon.novel import NOVEL
from arena.datasets.world.lexicon.person import PERSON
from arena.datasets.world.lexicon.river import RIVER
from arena.datasets.world.lexicon.school import SCHOOL
from arena.datasets.world.lexicon.ship import SHIP
from arena.datasets.world.lexicon.town import TOWN
from arena.datasets.world.lexicon.treaty import TREATY

KINDS: dict[str, Kind] = {
    kind.key: kind
    for kind in (
        PERSON,
        TOWN,
        RIVER,
        MOUNTAIN,
        SHIP,
        GUILD,
        ALBUM,
        NOVEL,
        SCHOOL,
        TREATY,
        INSTRUMENT,
        FESTIVAL,
        BRIDGE,
    )
}

RELATIONS: dict[str, Relation] = {
    f"{kind.key}.{relation.key}": relation for kind in KINDS.values() for relation in kind.relations
}
"""Every relation under `KIND.RELATION`, the name by which queries and facts refer to it."""
