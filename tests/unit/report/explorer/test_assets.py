from __future__ import annotations

import re
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest

from arena.report import source as assets

FOLDER = Path(str(files("arena.report") / "page"))
SCRIPT, STYLE = assets.explorer_scripts(), assets.styles()

MARKUP = (
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "document.write",
    " eval(",
    "new Function",
    'setAttribute("on',
)
ELSEWHERE = (
    "fetch(",
    "XMLHttpRequest",
    "import(",
    "http://",
    "https://",
    "WebSocket",
    "sendBeacon",
    ".href =",
    ".src =",
)


@pytest.mark.parametrize("word", [*MARKUP, *ELSEWHERE, "localStorage"])
def test_text_never_becomes_markup_and_nothing_is_asked_of_anyone(word: str) -> None:
    assert word not in SCRIPT


def test_the_script_is_one_function() -> None:
    assert SCRIPT.startswith('(() => {\n"use strict";\n')
    assert SCRIPT.endswith("})();\n")
    assert "</script" not in SCRIPT
    assert "<!--" not in SCRIPT


def test_every_file_is_used_and_short() -> None:
    named = {f"scripts/{name}.js" for name in assets.SCRIPTS.split()}
    named |= {f"explorer/scripts/{name}.js" for name in assets.EXPLORER_SCRIPTS.split()}
    named |= {f"styles/{name}.css" for name in assets.STYLES.split()}
    named |= {f"explorer/styles/{name}.css" for name in assets.EXPLORER_STYLES.split()}
    there = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.suffix in (".js", ".css")}
    assert named == there
    assert all(len((FOLDER / name).read_text(encoding="utf-8").splitlines()) <= 300 for name in named)


def test_the_style_names_nothing_outside_the_page() -> None:
    assert "url(" not in STYLE
    assert "@import" not in STYLE
    assert "</style" not in STYLE


class _Attributes(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names |= {name for name, _ in attrs}
        self.ids += [value for name, value in attrs if name == "id" and value]


def test_the_page_part_has_no_handlers_and_no_styles_and_the_elements_that_the_script_asks_for() -> None:
    parser = _Attributes()
    parser.feed(assets.asset("explorer/explorer.html"))
    assert not {name for name in parser.names if name.startswith("on") or name in ("style", "href", "src")}
    assert all(one.startswith("explorer") for one in parser.ids)
    asked = set(re.findall(r'byId\("(\w+)"\)', SCRIPT))
    assert {f"explorer-{name}" for name in asked} <= set(parser.ids)
