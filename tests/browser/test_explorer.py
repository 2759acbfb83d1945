from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from arena.report.html import render
from arena.types import Dataset, Document, Gold, Question, RunRecord
from tests.browser.conftest import Opened, Opening
from tests.samples import answered, small_dataset
from tests.unit.report.explorer.telling_records import PLAIN, RERANKED, telling_records
from tests.unit.report.pages import page_of

SCRIPT = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
TURNED = "left \u202eright"
LONG = "long passage " * 16_000
MANY = 300


def asked_dataset() -> Dataset:
    """The small dataset, a question whose every text is hostile, and many alike."""
    small = small_dataset()
    more = tuple(Question(f"m{number:03}", f"Number {number}?", "single_hop", 1) for number in range(MANY))
    hostile = Question("javascript:alert(1)//'&", SCRIPT + TURNED, "multi_hop", 2)
    documents = (
        *small.documents,
        Document("javascript:alert(2)", SCRIPT, SCRIPT + LONG),
        Document("d6", "\u05d0\u05d1\u05d2", TURNED),
    )
    gold = {one.question_id: Gold(one.question_id, (one.text,), ("d1",), ("d1",)) for one in more}
    gold[hostile.question_id] = Gold(hostile.question_id, (SCRIPT,), ("javascript:alert(2)",), ("javascript:alert(2)",))
    return replace(
        small, documents=documents, questions=(*small.questions, hostile, *more), gold={**small.gold, **gold}
    )


HOSTILE = asked_dataset().questions[5]


def asked_records() -> list[RunRecord]:
    used = ("javascript:alert(2)", "d6")
    more = [
        answered(f"m{number:03}", f"Number {number}?" if of is PLAIN or number % 3 else "no idea", ("d1",), of=of)
        for number in range(MANY)
        for of in (PLAIN, RERANKED)
    ]
    return [
        *telling_records(),
        *(answered(HOSTILE.question_id, SCRIPT, used, of=of) for of in (PLAIN, RERANKED)),
        *more,
    ]


def link(question_id: str, a: str, b: str) -> str:
    return f"#q={quote(question_id, safe='')}&a={quote(a, safe='')}&b={quote(b, safe='')}"


@pytest.fixture(scope="module")
def html() -> str:
    return render(page_of(asked_dataset(), asked_records()))


@pytest.fixture(scope="module")
def report(opening: Opening, html: str) -> Opened:
    shown = opening(html)
    shown.page.locator("#explorer").scroll_into_view_if_needed()
    expect(shown.page.locator("#explorer.ready")).to_be_attached()
    return shown


@pytest.fixture
def page(report: Opened) -> Iterator[Page]:
    """The explorer with nothing searched for."""
    yield report.page
    report.page.locator("#explorer-search").fill("")
    for name in ("kind", "hops", "cell", "outcome", "finding"):
        report.page.locator(f"#explorer-{name}").select_option("")
    report.page.locator("#explorer-disagree").uncheck()


def shown_count(page: Page) -> str:
    return page.locator("#explorer-count").inner_text()


def open_question(page: Page, text: str, at_id: str) -> None:
    page.locator("#explorer-search").fill(text)
    expect(page.locator(".explorer-row").first).to_contain_text(at_id)  # the search follows the typing at a distance
    page.locator(".explorer-row").first.click()
    expect(page.locator("#explorer-question .explorer-heading .mono")).to_have_text(at_id)


def boxes_of(page: Page) -> list[dict[str, float]]:
    """Where the two sides stand, both at one moment."""
    measured = "sides => sides.map(side => side.getBoundingClientRect().toJSON())"
    boxes: list[dict[str, float]] = page.locator(".explorer-side").evaluate_all(measured)
    return boxes


def test_the_payload_is_not_opened_before_the_explorer_comes_near(opening: Opening, html: str) -> None:
    shown = opening(html)
    shown.page.wait_for_timeout(300)
    assert shown.page.locator("#explorer.ready").count() == 0
    shown.page.locator("#explorer").scroll_into_view_if_needed()
    expect(shown.page.locator("#explorer.ready")).to_be_attached()


def test_all_questions_are_there_and_few_are_elements(page: Page) -> None:
    assert shown_count(page) == "306 of 306 questions"
    assert 0 < page.locator(".explorer-row").count() < 40
    listed = page.locator("#explorer-list")
    listed.press("End")
    expect(page.locator(".explorer-row.active")).to_contain_text("Number 299?")
    assert page.locator(".explorer-row").count() < 40
    listed.press("Home")
    expect(page.locator(".explorer-row.active")).to_contain_text("Who governs")


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("ORLEN weir", 2),
        ("m123", 1),
        ("no idea", 100),
        ("Sarn estuary", 1),
        ("governs town", 1),
        ("nothing", 0),
    ],
)
def test_search_looks_at_texts_ids_and_answers(page: Page, text: str, n: int) -> None:
    page.locator("#explorer-search").fill(text)
    expect(page.locator("#explorer-count")).to_have_text(f"{n} of 306 questions")


def test_filters_join(page: Page) -> None:
    page.locator("#explorer-kind").select_option("unanswerable")
    expect(page.locator("#explorer-count")).to_have_text("1 of 306 questions")
    page.locator("#explorer-kind").select_option("")
    page.locator("#explorer-outcome").select_option("failed")
    expect(page.locator(".explorer-row")).to_contain_text(["Where does the Quennick School stand?"])
    page.locator("#explorer-outcome").select_option("")
    page.locator("#explorer-disagree").check()
    expect(page.locator("#explorer-count")).to_have_text("102 of 306 questions")
    page.locator("#explorer-cell").select_option(label="corrective + hybrid_rerank")
    page.locator("#explorer-finding").select_option("correct")
    expect(page.locator("#explorer-count")).to_have_text("1 of 306 questions")


def test_two_cells_stand_side_by_side(page: Page) -> None:
    open_question(page, "q1 governs", "q1")
    page.get_by_label("Cell on side A").select_option(label="corrective + hybrid_rerank")
    page.get_by_label("Cell on side B").select_option(label="vanilla + dense")
    left, right = page.locator(".explorer-side").all()
    expect(left.locator(".explorer-said")).to_have_text("Ostrand of Tammerhold ")
    expect(right.locator(".explorer-said")).to_have_text("Mirelle Ostrand ")
    first, second = boxes_of(page)
    assert first["y"] == second["y"]
    assert first["x"] + first["width"] <= second["x"]


def test_a_side_tells_what_the_record_has(page: Page) -> None:
    open_question(page, "q1 governs", "q1")
    page.get_by_label("Cell on side A").select_option(label="corrective + hybrid_rerank")
    side = page.locator(".explorer-side").first
    hits = [
        " ".join(one.split())
        for one in side.locator("details.explorer-retrieval").first.locator("tbody tr").all_inner_texts()
    ]
    assert hits == [
        "1 Tammerhold hop 2 used cited d2#0001 0.812 3. 0.456 \N{EN DASH} 1. 0.812",
        "2 Mirelle Ostrand used d3 -1.5 \N{EN DASH} 1. 12.3 2. -1.5",
        "3 Orlen Weir hop 1 d1 0.00123 3. 0.00123",
    ]
    text = " ".join(side.inner_text().split())
    assert "Asked Orlen Weir source \N{EM DASH} hybrid_rerank, k 2, depth 50, rrf 60, threshold 0.15." in text
    assert "2 further candidates beyond k; of gold hop 1 2 places below." in text
    assert (
        "evaluate: keep Tammerhold hop 2 used cited tier T1, changed evidence, answer, p 0.25 0.7 0.5 calibrated"
        in text
    )
    assert "generate fake:, 1 retried, 1 cut off 1 unknown unknown 0.25" in text
    assert "a reply was cut off" in text


def test_a_passage_is_shown_on_demand_and_only_what_was_retrieved_of_it(page: Page) -> None:
    open_question(page, "q1 governs", "q1")
    page.get_by_label("Cell on side A").select_option(label="corrective + hybrid_rerank")
    title = page.locator(".explorer-side").first.get_by_role("button", name="Tammerhold").first
    assert page.locator(".explorer-passage").count() == 0
    title.click()
    box = page.locator(".explorer-passage")
    expect(box).to_contain_text("Characters 5 to 40 of the document.")
    expect(box).to_contain_text(small_dataset().documents[1].text[5:40])
    assert title.get_attribute("aria-expanded") == "true"
    title.press("Enter")
    expect(box).to_have_count(0)


def test_a_link_opens_its_question_in_its_cells(report: Opened) -> None:
    other = report.page.context.new_page()
    other.goto(report.page.url.split("#")[0] + link("q2", RERANKED.key, PLAIN.key))
    expect(other.locator(".explorer-heading .mono")).to_have_text("q2")
    expect(other.locator(".explorer-side").first.locator(".explorer-said")).to_have_text("1871 ")
    expect(other.locator(".explorer-question")).to_be_in_viewport()
    expect(other.locator(".explorer-row[aria-selected=true]")).to_contain_text("When was a bridge")
    other.close()


def test_a_link_to_a_question_of_another_run_says_so(report: Opened) -> None:
    other = report.page.context.new_page()
    other.goto(report.page.url.split("#")[0] + link("gone", "x", "y"))
    expect(other.locator("#explorer-question")).to_contain_text("No question of this run has the id gone")
    other.close()


def test_back_and_forward_go_through_the_questions(page: Page) -> None:
    open_question(page, "q2 bridge", "q2")
    open_question(page, "m007", "m007")
    heading = page.locator(".explorer-heading .mono")
    page.go_back()
    expect(heading).to_have_text("q2")
    page.go_forward()
    expect(heading).to_have_text("m007")
    assert "#q=m007&a=" in page.url


def test_neighbours_are_those_of_the_list(page: Page) -> None:
    open_question(page, "m00", "m000")
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".explorer-heading .mono")).to_have_text("m001")
    page.get_by_role("button", name="Previous").click()
    expect(page.locator(".explorer-heading .mono")).to_have_text("m000")
    assert page.get_by_role("button", name="Previous").is_disabled()


def test_the_keyboard_alone_opens_a_question(page: Page) -> None:
    page.locator("#explorer-search").focus()
    page.keyboard.type("m29")
    page.locator("#explorer-list").focus()
    for key in ("Home", "ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(page.locator(".explorer-heading .mono")).to_have_text("m292")


def test_all_cells_are_had_at_a_glance(page: Page) -> None:
    open_question(page, "m003", "m003")
    glance = page.locator(".explorer-glance")
    expect(glance.locator("summary")).to_have_text("All cells: right in 1 of 2")
    glance.locator("summary").click()
    assert "no idea" in glance.inner_text()
    glance.get_by_role("button", name="Show corrective + hybrid_rerank as A").click()
    expect(page.get_by_label("Cell on side A").locator("option:checked")).to_have_text("corrective + hybrid_rerank")


def test_hostile_texts_are_texts(report: Opened, page: Page) -> None:
    open_question(page, "javascript", HOSTILE.question_id)
    heading = page.locator(".explorer-heading h3")
    expect(heading).to_have_text(f"{SCRIPT}left U+202Eright")
    assert heading.locator("bdi").get_attribute("dir") == "auto"
    page.locator(".explorer-gold button").first.click()
    expect(page.locator(".explorer-passage")).to_contain_text("long passage")
    box = page.locator(".explorer-passage").bounding_box()
    assert box is not None
    assert box["height"] < 300
    assert "\u202e" not in page.locator("#explorer").inner_text()
    assert page.locator("#explorer :is(script, img, a, iframe)").count() == 0
    assert page.title() != "owned"


def test_nothing_complains_and_nothing_is_asked_for(report: Opened) -> None:
    assert report.complaints == []
    assert {one.split(":")[0] for one in report.asked} <= {"file", "data", "blob"}


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_on_a_phone_the_cells_stand_below_each_other(opening: Opening, html: str, colours: str) -> None:
    shown = opening(html, width=390, colours=colours)
    shown.page.goto(shown.page.url + link("q1", RERANKED.key, PLAIN.key))
    expect(shown.page.locator(".explorer-side")).to_have_count(2)
    first, second = boxes_of(shown.page)
    assert first["x"] == second["x"]
    assert first["y"] + first["height"] <= second["y"]
    assert shown.page.evaluate("document.documentElement.scrollWidth") == 390
    assert shown.complaints == []
