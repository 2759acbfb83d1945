"""The words of the world: one module a kind of thing, its relations and every sentence pattern about it."""

from __future__ import annotations

from arena.datasets.world.grammar import Kind, Relation
from arena.datasets.world.lexicon.people import FESTIVAL, GUILD, PERSON, TREATY
from arena.datasets.world.lexicon.places import BRIDGE, MOUNTAIN, RIVER, TOWN
from arena.datasets.world.lexicon.things import INSTRUMENT, SHIP
from arena.datasets.world.lexicon.works import ALBUM, NOVEL, SCHOOL

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
