"""Whom to cite for a dataset."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Citation:
    """The facts of a BibTeX entry. `authors`: all of them, as "Family, Given"; `key`: how the entry is cited."""

    key: str
    authors: tuple[str, ...]
    title: str
    venue: str
    year: int

    @property
    def short(self) -> str:
        """First author, venue and year in one line."""
        family = self.authors[0].partition(",")[0]
        return f"{family}{' et al.' if len(self.authors) > 1 else ''}, {self.venue} {self.year}"

    @property
    def bibtex(self) -> str:
        """An entry that BibTeX reads; capitals of the title are kept."""
        return (
            f"@misc{{{self.key},\n  author = {{{' and '.join(self.authors)}}},\n  title = {{{{{self.title}}}}},\n"
            f"  howpublished = {{{self.venue}}},\n  year = {{{self.year}}}\n}}"
        )
