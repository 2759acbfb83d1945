"""The page: text by hand, and blocks that say what is run and what of its output is quoted.

    <!-- run: arena show runs/seed
    columns: strategy, mode, F1 | cell, n
    parts: Gap; Failures
    lines: Gate
    -->
    (written here)
    <!-- end -->

What is written is the command, each list of columns as a table, and the parts and lines that begin so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from experiments.seed_systems.excerpt import columns_of, line_of, part_of

PAGE = Path(__file__).parents[2] / "docs" / "seed_systems.md"

_BLOCK = re.compile(
    r"(?P<head><!-- run: (?P<command>.+)\n(?:columns: (?P<columns>.+)\n)?(?:parts: (?P<parts>.+)\n)?"
    r"(?:lines: (?P<lines>.+)\n)?-->\n)"
    r"(?P<body>(?:(?!<!--).*\n)*?)(?P<end><!-- end -->)"
)


class Ran(NamedTuple):
    """What a command came to. `code`: 0, or 1 where a check failed."""

    code: int
    output: str


def render(page: str, run: Callable[[str], Ran]) -> str:
    """`page` with every block written anew, its commands run in their order.

    Raises `ValueError` where a block is not of its form, or its command prints nothing of what it quotes.
    """
    if page.count("<!-- run:") != len(_BLOCK.findall(page)):
        raise ValueError("a block of the page is not of the form that experiments/seed_systems/page.py describes")

    def written(block: re.Match[str]) -> str:
        body = "\n\n".join(_body(block, run(block["command"])))
        return f"{block['head']}\n{body}\n\n{block['end']}"

    return _BLOCK.sub(written, page)


def _body(block: re.Match[str], ran: Ran) -> Iterator[str]:
    ending = f"    # exit code {ran.code}" if ran.code else ""
    yield f"```sh\n{block['command']}{ending}\n```"
    for columns in block["columns"].split(" | ") if block["columns"] else ():
        yield columns_of(ran.output, columns.split(", "))
    quoted = [part_of(ran.output, start) for start in _listed(block["parts"])]
    if block["lines"]:
        quoted.append("\n".join(line_of(ran.output, start) for start in _listed(block["lines"])))
    if quoted:
        yield "```text\n" + "\n\n".join(quoted) + "\n```"


def _listed(starts: str | None) -> list[str]:
    return starts.split("; ") if starts else []
