from __future__ import annotations

import random
from dataclasses import replace

import pytest

from arena.report.explorer.columns import island_chars, member
from arena.report.explorer.documents import DocumentShelf
from arena.report.explorer.section import TEXTS_CHARS, WORDS_CHARS, explorer_island, fitting_texts
from arena.report.source import PageSource
from arena.types import Dataset, Document
from tests.samples import answered, small_dataset
from tests.unit.report.explorer.island import Island
from tests.unit.report.pages import page_of

LETTERS = "abcdefghijklmnopqrstuvwxyz "


def noise(rng: random.Random, chars: int) -> str:
    """Text that hardly compresses."""
    return "".join(rng.choices(LETTERS, k=chars))


def long_documents(chars: int = 20_000, n: int = 40) -> dict[str, Document]:
    rng = random.Random(0)
    return {f"d{number}": Document(f"d{number}", f"T{number}", noise(rng, chars)) for number in range(n)}


@pytest.fixture(scope="module")
def shelf() -> DocumentShelf:
    shelf = DocumentShelf(long_documents())
    for number in range(40):
        shelf.number(f"d{number}")
    return shelf


def test_texts_stay_whole_where_there_is_room(shelf: DocumentShelf) -> None:
    texts = fitting_texts(shelf, 10_000_000)
    assert (texts.chars, texts.n_cut) == (None, 0)


@pytest.mark.parametrize("room", [400_000, 100_000, 30_000, 5_000])
def test_texts_are_cut_to_the_longest_that_fits(shelf: DocumentShelf, room: int) -> None:
    texts = fitting_texts(shelf, room)
    assert texts.size <= room
    assert texts.n_cut == 40
    longer = TEXTS_CHARS[TEXTS_CHARS.index(texts.chars) - 1]
    whole = [texts for _, texts in shelf.members(longer)]
    assert island_chars(*map(member, whole)) > room


def test_where_not_even_the_shortest_fits_none_is_kept(shelf: DocumentShelf) -> None:
    texts = fitting_texts(shelf, 500)
    assert (texts.chars, texts.members, texts.n_cut) == (0, [], 40)


def wordy(answer_chars: int, text_chars: int) -> PageSource:
    """A run with long answers, on long documents."""
    rng, small = random.Random(1), small_dataset()
    documents = tuple(replace(one, text=noise(rng, text_chars)) for one in small.documents)
    dataset: Dataset = replace(small, documents=documents)
    records = [answered(f"q{number}", noise(rng, answer_chars), ("d1", "d2", "d3", "d4")) for number in (1, 2, 3)]
    return page_of(dataset, records)


def cut_texts(island: Island) -> list[int | None]:
    """How many characters of each document are in the island; None: it has no texts."""
    return [len(one if isinstance(one, str) else one[0]) for one in island.texts()]


def island_in(source: PageSource, room: int) -> Island:
    return Island(explorer_island(source, room))


def test_documents_give_way_first_and_the_page_says_so() -> None:
    whole = island_in(wordy(50, 40_000), 5_000_000)
    cut = island_in(wordy(50, 40_000), 60_000)
    assert cut_texts(whole) == [40_000] * 4
    assert max(len(one) for one in cut.texts()[0][:1]) < 40_000
    assert cut.contents["lanes"] is not None
    assert cut.contents["notes"] == [
        f"what follows the first {cut_texts(cut)[0]:,} characters of 4 documents, of 4",
    ]
    assert cut.answers() == whole.answers()


def test_then_lanes_and_then_answers() -> None:
    island = island_in(wordy(20_000, 40_000), 42_000)
    said = island.contents["notes"]
    assert island.contents["lanes"] is None
    assert "the texts of all 4 documents" in said
    assert "ranks and scores in the lanes" in said
    assert any("long answers" in one for one in said)
    assert [len(one[0]) for one in island.answers()] == [WORDS_CHARS[-1]] * 3
    assert all(hit["lanes"] == {} for one in island.records() for each in one["retrievals"] for hit in each["hits"])


def bare(island: Island) -> list[object]:
    """Every record, its texts and lanes apart."""
    names = ("cell", "place", "finding", "used", "decisions", "scores", "seconds")
    return [[one[name] for name in names] for one in island.records()]


def test_no_record_is_left_out_however_little_room_there_is() -> None:
    source = wordy(20_000, 40_000)
    everything, least = island_in(source, 5_000_000), island_in(source, 1)
    assert bare(least) == bare(everything)


def test_a_long_answer_is_cut_even_where_there_is_room() -> None:
    island = island_in(wordy(20_000, 10), 5_000_000)
    assert [(len(kept), left) for kept, left in island.answers()] == [(4_000, 16_000)] * 3
    assert island.contents["notes"] == ["what follows the first 4,000 characters of 3 long answers and other texts"]
