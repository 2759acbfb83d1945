"""Closed lists of small words that vary the filler of a passage and never state a fact of the graph."""

from __future__ import annotations

VOCABULARY: dict[str, tuple[str, ...]] = {
    "animal": ("herons", "geese", "goats", "otters", "crows", "hares", "swallows", "bees", "cranes", "foxes"),
    "colour": ("grey", "tawny", "dark green", "rust red", "pale blue", "white", "black", "yellow"),
    "count": ("three", "four", "five", "six", "seven", "nine", "eleven", "twelve"),
    "craft": (
        "glassblowing",
        "ropemaking",
        "weaving",
        "tanning",
        "papermaking",
        "dyeing",
        "saddlery",
        "pottery",
        "clockmaking",
        "basketry",
    ),
    "food": ("smoked eel", "barley bread", "pickled plums", "honey cake", "salt cheese", "onion broth", "dried pears"),
    "material": ("slate", "granite", "limestone", "beech", "flint", "brick", "sandstone", "larch", "marble", "basalt"),
    "month": ("February", "March", "April", "May", "June", "August", "September", "October", "November"),
    "season": ("spring", "summer", "autumn", "winter"),
    "weather": ("fog", "snow", "driving rain", "late frost", "hail", "salt wind", "thunder", "drought"),
    "wares": ("wool", "lamp oil", "timber", "salt", "grain", "tin", "hides", "candles", "wine", "flax"),
}
