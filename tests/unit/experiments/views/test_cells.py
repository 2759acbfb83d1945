from __future__ import annotations

import pytest

from arena.errors import UnknownNameError
from arena.report.names import name_of
from arena.types import Cell
from experiments.views.inspect_text import chosen_cells

SMALL = Cell("vanilla", "dense", "fake:", {"k": 5})
LARGE = Cell("vanilla", "dense", "fake:", {"k": 10})
OTHER = Cell("corrective", "hybrid", "fake:", {"k": 5})
CELLS = [SMALL, LARGE, OTHER]


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        ([], CELLS),
        (["corrective"], [OTHER]),
        (["vanilla/dense"], [SMALL, LARGE]),
        ([LARGE.key], [LARGE]),
        (["corrective/hybrid", "vanilla"], CELLS),
    ],
)
def test_a_cell_is_named_by_key_strategy_or_strategy_and_mode(names: list[str], chosen: list[Cell]) -> None:
    assert chosen_cells(CELLS, names) == chosen


def test_an_unknown_cell_is_answered_with_the_names_of_all() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'corrective/hybrid'") as caught:
        chosen_cells(CELLS, ["corective/hybrid"])
    assert SMALL.key in str(caught.value)
    assert OTHER.key not in str(caught.value)


def test_a_title_says_in_what_namesakes_differ() -> None:
    assert [name_of(one, CELLS) for one in CELLS] == [
        "vanilla + dense (k=5)",
        "vanilla + dense (k=10)",
        "corrective + hybrid",
    ]
