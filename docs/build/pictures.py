"""The pictures README shows: `python -m docs.build.pictures RUN_FOLDER` photographs the run's report.

Needs the extra `dev` (Playwright) and the system's Chromium.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from arena.errors import ConfigError, UserError
from arena.leaderboard.build import read_leaderboard
from arena.store import QUESTIONS, RunStore
from arena.types import GOLD_MODE, NO_RETRIEVAL_MODE
from experiments.terminal.progress import Reporter
from experiments.terminal.tables import Console
from experiments.views.report import write_report

if TYPE_CHECKING:
    from playwright.sync_api import Page

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
_NO_INDEX = (GOLD_MODE, NO_RETRIEVAL_MODE)
_WIDTH, _HEIGHT = 1180, 900
_ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")


def take_pictures(run_folder: Path, out: Path = PICTURES) -> tuple[Path, ...]:
    """Write `plane.png` and `explorer.png`: the cost-quality plane, and the question that divides the cells most.

    Raises:
        ConfigError: there is no Chromium.
        UserError: as `write_report`.
    """
    browser = shutil.which("chromium")
    if browser is None:
        raise ConfigError("no `chromium` on the PATH: install the package chromium")
    from playwright.sync_api import sync_playwright

    out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as scratch, sync_playwright() as playwright:
        report = write_report(run_folder, Path(scratch) / "report.html", Reporter(Console(stderr=True)))
        chromium = playwright.chromium.launch(executable_path=browser, args=list(_ARGUMENTS))
        page = chromium.new_page(viewport={"width": _WIDTH, "height": _HEIGHT}, color_scheme="light")
        plane = _plane(page, report, out / "plane.png")
        explorer = _explorer(page, report, RunStore.open(run_folder), out / "explorer.png")
        chromium.close()
    return plane, explorer


def _plane(page: Page, report: Path, picture: Path) -> Path:
    page.goto(report.as_uri())
    figure = page.locator("#cost figure")
    figure.scroll_into_view_if_needed()
    page.wait_for_selector("#cost figure .main-svg")
    figure.screenshot(path=picture)
    return picture


def _explorer(page: Page, report: Path, store: RunStore, picture: Path) -> Path:
    cells = [cell.cell for cell in read_leaderboard(store).cells if cell.llm and cell.retrieval_mode not in _NO_INDEX]
    outcomes: dict[str, dict[str, str | None]] = {}
    columns = store.read_table(QUESTIONS, ["cell", "question_id", "failure"])
    for cell, question_id, failure in zip(*columns.values(), strict=True):
        if cell in cells:
            outcomes.setdefault(question_id, {})[cell] = failure
    question_id = max(sorted(outcomes), key=lambda one: len(set(outcomes[one].values())))
    came_to = outcomes[question_id]
    first = cells[0]
    second = next((cell for cell in cells if came_to.get(cell) != came_to.get(first)), cells[-1])
    page.goto(f"{report.as_uri()}#{urlencode({'q': question_id, 'a': first, 'b': second})}")
    page.reload()  # an address that differs in its fragment alone loads nothing
    page.wait_for_selector("#explorer-question h3, #explorer-question h4")
    page.locator("#explorer-question").screenshot(path=picture)
    return picture


if __name__ == "__main__":
    try:
        for written in take_pictures(Path(sys.argv[1])):
            print(written)
    except UserError as error:
        sys.exit(f"pictures: {error}")
