"""The server's own pages in the system's Chromium: they follow a run, and load nothing from elsewhere."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from arena.datasets import load_dataset
from tests.integration.test_serve import address, started
from tests.samples import answered
from tests.unit.experiments.made_runs import made_run

CHROMIUM = shutil.which("chromium")
RUN_ID = "<img src=x onerror=alert(1)>"


@pytest.fixture
def page() -> Iterator[Page]:
    if CHROMIUM is None:
        pytest.skip("there is no chromium on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser.new_page(viewport={"width": 390, "height": 800})
        finally:
            browser.close()


def test_the_pages_follow_a_run_and_run_no_script_of_its_names(page: Page, tmp_path: Path, jsonl_folder: Path) -> None:
    spec = f"jsonl:{jsonl_folder}"
    records = [answered("q1", "Mirelle Ostrand", ("d1", "d2")), answered("q2", "1871", ("d1",))]
    store = made_run(tmp_path / "runs" / RUN_ID, spec, load_dataset(spec), records, status="stopped")
    whole = store.records_path.read_bytes()
    store.records_path.write_bytes(whole[: whole.index(b"\n") + 1])
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    with started("serve", store.folder.parent, "--port", "0") as server:
        home = address(server)
        page.goto(home)
        page.get_by_role("link", name=RUN_ID).click()
        expect(page.locator("h1")).to_have_text(RUN_ID)
        expect(page.locator("#count")).to_have_text("1 of 2 answers")
        expect(page.locator("#cells tr td").first).to_have_text("vanilla + dense")
        expect(page.locator("#again")).to_be_visible()
        store.records_path.write_bytes(whole)
        expect(page.locator("#count")).to_have_text("2 of 2 answers", timeout=20_000)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert said == []
    assert {url.startswith((home, "data:")) for url in asked} == {True}
