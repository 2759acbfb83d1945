"""What every world holds to; the maker builds to these numbers and the proof checks them."""

from __future__ import annotations

from collections.abc import Mapping

PASSAGE_WORDS = (40, 140)
"""Fewest and most words of a passage."""

SUMMARY_DOCUMENTS = 5
"""Documents that speak of the subject of a summary, no more and no fewer."""

REFERENCE_WORDS = (80, 120)
"""Fewest and most words of a reference account."""

HOMONYM_KINDS = 6
"""Kinds of thing that bear the same title."""

DOCUMENTS_PER_HOMONYM = 120
"""One such title for every so many documents."""

KIND_SHARES: Mapping[str, int] = {"multi_hop": 36, "single_hop": 9, "summary": 6, "unanswerable": 9}
"""Kinds of question in every sixty."""

SHAPE_SHARES: Mapping[str, int] = {
    "2hop": 1252,
    "3hop1": 568,
    "3hop2": 192,
    "4hop1": 246,
    "4hop2": 64,
    "4hop3": 95,
}
"""Counts in MuSiQue's development set: 52, 31 and 17 % of two, three and four hops."""
