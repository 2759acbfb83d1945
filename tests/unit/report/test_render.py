from __future__ import annotations

import base64
import gzip
import hashlib
import json
from dataclasses import replace

import pytest

from arena.leaderboard.build import Leaderboard
from arena.report.figures import resolve, rule_named
from arena.report.html import render
from arena.report.source import PageSource, PaperComparison, StrategyCard
from arena.types import Cell, Dataset, Document, Question
from tests.samples import answered, cell, failed, small_dataset
from tests.unit.leaderboard.contests import ORACLE, run_of, sixty_questions, three_cells
from tests.unit.report.pages import ReadPage, page_of

SCRIPT = "<script>alert(1)</script>"
LINK = '<a href="javascript:alert(1)">x</a>'
BACKWARDS = "\u202eevil\u202c \u2066x\u2069"


@pytest.fixture(scope="module")
def contest() -> PageSource:
    """Three cells and an oracle on sixty questions."""
    return page_of(sixty_questions(), [*three_cells(), *run_of(ORACLE, lambda place: True)])


@pytest.fixture(scope="module")
def page(contest: PageSource) -> str:
    return render(contest)


def hostile() -> PageSource:
    """Names, texts and answers that try to be more than text."""
    small = small_dataset()
    documents = (
        Document("d1", SCRIPT, f"{SCRIPT} {LINK} {BACKWARDS} " + "\u2028]]>" + "x" * 200_000),
        *small.documents[1:],
    )
    questions = (Question("q1", f"{SCRIPT}{LINK}", "multi_hop", 2, f'"><img src=x onerror=alert(1)>{BACKWARDS}'),
                 *small.questions[1:])  # fmt: skip
    dataset = Dataset(f"jsonl:{SCRIPT}", documents, questions, small.gold, "ds_0")
    of = Cell(f"vanilla{SCRIPT}", "dense", f"openai:{LINK}", {"note": f"{BACKWARDS}{SCRIPT}"})
    other = replace(of, params={"note": "</script><script>alert(2)</script>"})
    records = [answered("q1", f"{SCRIPT}{LINK}", ("d1", "d2"), of=of), answered("q2", BACKWARDS, ("d1",), of=other),
               failed("q3", of=of)]  # fmt: skip
    card = StrategyCard(of.strategy, LINK, SCRIPT, "T1", ((SCRIPT, LINK, BACKWARDS),))
    paper = PaperComparison(SCRIPT, LINK, "d", "s", "EM", "ratio", 0.5, of.key, None, "near", (LINK,), source=LINK)
    return page_of(dataset, records, run_id=f"r{SCRIPT}", cards=(card,), papers=(paper,))


def test_every_figure_equals_leaderboard_json_after_its_rule(contest: PageSource, page: str) -> None:
    board = Leaderboard.model_validate_json(contest.board.model_dump_json())
    figures = ReadPage.of(page).figures
    assert len(figures) > 200
    for path, rule, text in figures:
        assert text == rule_named(rule)(*(resolve(board, one) for one in path.split())), (path, rule)


def test_the_paths_of_figures_lead_somewhere(contest: PageSource, page: str) -> None:
    board = json.loads(contest.board.model_dump_json())
    for path, _, text in ReadPage.of(page).figures:
        if text not in ("\N{EN DASH}", "unknown"):
            for one in path.split():
                found = board
                for key in one.split("."):
                    found = found[int(key)] if isinstance(found, list) else found[key.replace("%20", " ")]
                assert found is not None, path


def test_the_policy_names_the_scripts_and_the_style_to_the_byte(page: str) -> None:
    read = ReadPage.of(page)
    policy = next(found["content"] for tag, found in read.elements if "http-equiv" in found)
    assert policy is not None
    plotly = gzip.decompress(base64.b64decode(read.raw["plotly"])).decode()
    for text in (read.raw["script"], plotly, read.raw["style"]):
        assert f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" in policy
    assert "unsafe" not in policy
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert {"base-uri 'none'", "form-action 'none'"} <= set(policy.split("; "))


def test_the_policy_stands_before_whatever_it_rules(page: str) -> None:
    tags = [tag if "http-equiv" not in found else "policy" for tag, found in ReadPage.of(page).elements]
    assert tags.index("policy") < tags.index("style") < tags.index("script")


def test_scripts_of_the_page_hold_nothing_of_the_run(contest: PageSource, page: str) -> None:
    other = render(page_of(sixty_questions(), run_of(cell("another"), lambda place: True), run_id="another"))
    assert ReadPage.of(page).raw["script"] == ReadPage.of(other).raw["script"]


def test_hostile_text_is_text() -> None:
    read = ReadPage.of(render(hostile()))
    scripts = [found for tag, found in read.elements if tag == "script"]
    assert len(scripts) == 4
    assert {found.get("type") for found in scripts} == {"application/json", "application/octet-stream", None}
    assert SCRIPT in read.text
    assert not [tag for tag, _ in read.elements if tag in ("img", "iframe", "object", "embed", "base", "link")]
    assert not [name for _, found in read.elements for name in found if name.startswith("on") or name == "style"]


def test_no_link_comes_from_data() -> None:
    links = [found["href"] for _, found in ReadPage.of(render(hostile())).elements if "href" in found]
    assert links
    assert all(link is not None and link.startswith("#") for link in links)


def test_islands_hold_no_markup() -> None:
    island = ReadPage.of(render(hostile())).raw["figures"]
    assert not set("<>&\u2028\u2029") & set(island)
    assert any(SCRIPT in one["name"] for one in json.loads(island)["cells"])


def test_the_same_source_gives_the_same_bytes(contest: PageSource, page: str) -> None:
    assert render(contest) == page


def test_a_live_page_says_so(contest: PageSource, page: str) -> None:
    assert "This run is not finished" in ReadPage.of(render(replace(contest, live=True))).text
    assert "This run is not finished" not in ReadPage.of(page).text


def test_one_cell_without_a_model_makes_a_page() -> None:
    of = Cell("retrieval_only", "dense", None, {"k": 5})
    text = ReadPage.of(render(page_of(small_dataset(), [answered("q1", "", ("d1",), of=of)]))).text
    assert "It is the only cell" in text
    assert "no model" in text
