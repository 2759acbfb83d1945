from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from arena.report.html import render
from arena.types import Cell, Document, RunRecord
from tests.browser.conftest import Opened, Opening
from tests.samples import call
from tests.unit.leaderboard.contests import ORACLE, run_of, sixty_questions
from tests.unit.report.pages import page_of

HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
MARKED = "<b>corrective</b>"


def records() -> list[RunRecord]:
    """Two strategies in two modes; the second has a name that Plotly would take for bold, and calls of two roles."""
    asked = (call(role="grade", input_tokens=300), call(role="generate"))
    cells = [Cell(name, mode, "fake:", {"k": 5}) for name in ("vanilla", MARKED) for mode in ("dense", "hybrid")]
    made = [one for every, of in enumerate(cells, start=2) for one in run_of(of, _right_every(every))]
    return [replace(one, calls=asked) if one.cell.strategy == MARKED else one for one in made]


def _right_every(n: int) -> Callable[[int], bool]:
    return lambda place: place % n == 0


@pytest.fixture(scope="module")
def html() -> str:
    dataset = sixty_questions()
    hostile = replace(dataset, documents=(Document("d1", HOSTILE, HOSTILE + "x" * 200_000), *dataset.documents[1:]))
    return render(page_of(hostile, [*records(), *run_of(ORACLE, lambda place: True)], run_id=HOSTILE))


@pytest.fixture(scope="module")
def report(opening: Opening, html: str) -> Opened:
    shown = opening(html)
    for figure in shown.page.locator("[data-figure]").all():
        figure.scroll_into_view_if_needed()
        shown.page.wait_for_function("one => one.dataset.drawn === 'yes'", arg=figure.element_handle())
    return shown


def column(report: Opened, number: int) -> list[str]:
    return report.texts(f"#leaderboard-table tbody tr > :nth-child({number})")


def place_of(report: Opened, heading: str) -> int:
    headings = report.texts("#leaderboard-table thead th")
    return 1 + next(place for place, one in enumerate(headings) if one.split("\n")[0].strip() == heading)


def test_every_figure_is_drawn_without_a_complaint_or_a_request(report: Opened) -> None:
    assert report.page.locator("[data-figure]").count() >= 4
    assert report.page.locator(".js-plotly-plot").count() >= 4
    assert report.complaints == []
    assert [one for one in report.asked if not one.startswith(("file:", "data:", "blob:"))] == []
    assert len([one for one in report.asked if one.startswith("file:")]) == 1


def test_hostile_names_are_text(report: Opened) -> None:
    assert "owned" not in report.page.title().replace(HOSTILE, "")
    assert report.page.locator("main img").count() == 0
    assert report.texts("h1") == [HOSTILE]
    assert MARKED in report.page.locator('[data-figure="failures"]').inner_text()


def test_sorting_goes_both_ways_and_by_keyboard(report: Opened) -> None:
    number = place_of(report, "F1")
    button = report.page.locator(f"#leaderboard-table thead th:nth-child({number}) button")
    button.click()
    descending = column(report, number)
    assert report.page.locator("#leaderboard-table th[aria-sort=descending]").count() == 1
    assert descending == sorted(descending, reverse=True)
    button.press("Enter")
    assert column(report, number) == sorted(descending)
    report.page.locator("#leaderboard-table thead th:first-child button").click()
    names = [one.split("\n")[0] for one in column(report, 1)]
    assert names == sorted(names, key=str.lower)


def test_filters_leave_the_chosen_cells(report: Opened) -> None:
    report.page.select_option("select[name=strategy]", "vanilla")
    assert len(column(report, 1)) == 2
    report.page.select_option("select[name=mode]", "hybrid")
    assert report.texts("#leaderboard-filters output") == ["1 of 5 cells"]
    report.page.select_option("select[name=strategy]", "")
    report.page.select_option("select[name=mode]", "")
    assert len(column(report, 1)) == 5


def test_a_group_of_questions_shows_its_own_figures(report: Opened) -> None:
    number = place_of(report, "F1")
    whole = column(report, number)
    report.page.select_option("select[name=questions]", "hops=2")
    group = column(report, place_of(report, "F1"))
    assert group != whole
    paths = report.page.locator("#leaderboard-table td [data-path]").evaluate_all(
        "all => all.map(one => one.dataset.path)"
    )
    assert any(".breakdown.hops.2.answer_f1" in path for path in paths)
    assert "tokens" not in "".join(report.texts("#leaderboard-table thead th"))
    report.page.select_option("select[name=questions]", "")
    assert column(report, number) == whole


def test_another_axis_draws_another_plane(report: Opened) -> None:
    figure = report.page.locator('[data-figure="plane"]')
    assert "tokens per question" in figure.inner_text()
    report.page.select_option("#plane-cost", "calls")
    report.page.select_option("#plane-quality", "retrieval_recall")
    assert "model calls per question" in figure.inner_text()
    assert report.page.locator('[data-plane="retrieval_recall/calls"]').is_visible()
    assert not report.page.locator('[data-plane="answer_f1/tokens"]').is_visible()
    report.page.select_option("#plane-cost", "tokens")
    report.page.select_option("#plane-quality", "answer_f1")


def test_roles_can_be_counted_in_calls(report: Opened) -> None:
    figure = report.page.locator('[data-figure="roles"]')
    report.page.select_option("#roles-measure", "calls")
    assert "calls per question" in figure.inner_text()
    assert {"grade", "generate"} <= set(figure.inner_text().split())
    report.page.select_option("#roles-measure", "tokens")


def test_the_theme_changes_with_its_figures(report: Opened) -> None:
    def ink() -> tuple[str, str]:
        found: list[str] = report.page.evaluate(
            "[getComputedStyle(document.body).color, "
            "getComputedStyle(document.querySelector('[data-figure=failures] text')).fill]"
        )
        return found[0], found[1]

    light = ink()
    report.page.click("#theme")
    dark = ink()
    assert dark[0] != light[0]
    assert dark[1] != light[1]
    report.page.click("#theme")
    assert ink() == light


def test_links_of_the_contents_lead_to_their_sections(report: Opened) -> None:
    links = report.page.locator("nav a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
    assert len(links) >= 8
    assert all(report.page.locator(link).count() == 1 for link in links)


def test_a_telephone_scrolls_down_and_not_aside(opening: Opening, html: str) -> None:
    shown = opening(html, width=390, colours="dark")
    assert shown.page.evaluate("document.documentElement.scrollWidth") == 390
    assert shown.complaints == []


def test_on_paper_every_figure_and_table_is_there(opening: Opening, html: str) -> None:
    shown = opening(html, colours="dark")
    shown.page.wait_for_function("() => window.Plotly !== undefined")
    shown.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert shown.page.locator("[data-figure]:not([data-drawn])").count() == 0
    assert shown.page.locator("details.printed:not([open])").count() == 0
    assert shown.page.evaluate("document.documentElement.dataset.theme") == "light"
    shown.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert shown.page.locator("details.printed[open]").count() == 0
    assert shown.complaints == []
