"""How an account of one thing is asked for."""

from __future__ import annotations

SUMMARY_REQUESTS: tuple[str, ...] = (
    "Give a short account of {x} and of {themes} tied to that name.",
    "Tell what is known about {x}, together with {themes} of which the same name is part.",
    "Sum up everything on record that concerns {x}, including {themes}.",
)
"""`{x}` is the thing, `{themes}` a list of the kinds of other things whose documents speak of it."""
