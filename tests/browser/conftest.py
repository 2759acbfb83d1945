"""The system's Chromium, without a window and without a network; it opens pages from disk."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = shutil.which("chromium")
_QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass
class Opened:
    """A page in the browser. `complaints`: console errors and warnings, uncaught errors; `asked`: every address."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def texts(self, selector: str) -> list[str]:
        """What can be read of each element that is in sight of a reader."""
        return [one.inner_text() for one in self.page.locator(selector).all() if one.is_visible()]


Opening = Callable[..., Opened]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser a module, no longer: while it is open, an event loop runs in this thread, and no other can."""
    if CHROMIUM is None:
        pytest.skip(
            "no `chromium` on the PATH: left out are the report's sorting, filters, axes, figures, explorer and links "
            "in a browser, and that it asks no network for anything; install the package chromium"
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_QUIET))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def opening(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opening]:
    """`opening(html, width=390, colours="dark")` -> the page, loaded from a file."""
    contexts = []

    def opened(html: str, *, width: int = 1280, colours: Literal["light", "dark"] = "light") -> Opened:
        path = tmp_path_factory.mktemp("page") / "report.html"
        path.write_text(html, encoding="utf-8")
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=colours)
        contexts.append(context)
        shown = Opened(context.new_page())
        shown.page.on(
            "console", lambda said: shown.complaints.append(said.text) if said.type in ("error", "warning") else None
        )
        shown.page.on("pageerror", lambda error: shown.complaints.append(str(error)))
        shown.page.on("request", lambda request: shown.asked.append(request.url))
        shown.page.goto(path.as_uri())
        return shown

    yield opened
    for context in contexts:
        context.close()
