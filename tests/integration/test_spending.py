"""Budgets, the reply cache, prices and the dry run, from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arena.store.journal import RECORD_LINES, entries
from tests.integration.conftest import Arena
from tests.integration.test_run import journal

PRICE = "prices: {'fake:': {input_usd_per_million: 1000, output_usd_per_million: 2000}}\n"


@pytest.fixture
def small(study: Path) -> Path:
    """Two cells without an index, 5 and 4 questions, one at a time."""
    study.write_text(study.read_text() + "strategies: [closed_book, oracle]\nconcurrency: 1\n")
    return study


@pytest.fixture
def with_index(small: Path) -> Path:
    """The same, and a cell that calls no model before them."""
    text = small.read_text().replace("[closed_book, oracle]", "[retrieval_only, closed_book, oracle]\nmodes: [dense]")
    small.write_text(text)
    return small


def manifest(folder: Path) -> Any:
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


def board(folder: Path) -> Any:
    return json.loads((folder / "leaderboard.json").read_text(encoding="utf-8"))


def tokens(folder: Path) -> int:
    calls = (json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines())
    return sum(call["input_tokens"] + call["output_tokens"] for call in calls)


def test_a_budget_of_tokens_ends_a_run_that_goes_on_with_more(arena: Arena, small: Path, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    assert arena("run", small, "--run-id", "whole").code == 0
    bound = tokens(runs / "whole") // 2
    stopped = arena("run", small, "--run-id", "cut", "--max-run-tokens", bound)
    assert stopped.code == 2
    assert f"of budget.max_tokens {bound:,}" in stopped.err
    assert "continue with: arena run --resume --run-id cut" in stopped.err
    kept = len(list(entries(runs / "cut" / "records.jsonl", RECORD_LINES)))
    assert 0 < kept < len(journal(runs / "whole"))
    assert manifest(runs / "cut")["status"] == "stopped"
    assert manifest(runs / "cut")["spent"]["tokens"] >= bound

    again = arena("run", "--resume", "--run-id", "cut", "--runs-dir", runs)
    assert again.code == 2
    assert f"of budget.max_tokens {bound:,}" in again.err
    assert len(list(entries(runs / "cut" / "records.jsonl", RECORD_LINES))) == kept

    more = arena("run", "--resume", "--run-id", "cut", "--runs-dir", runs, "--max-run-tokens", 10 * bound)
    assert more.code == 0, more.err
    assert journal(runs / "cut") == journal(runs / "whole")


def test_a_budget_of_money_needs_a_price_before_anything_is_asked(arena: Arena, small: Path, tmp_path: Path) -> None:
    refused = arena("run", small, "--max-usd", "1")
    assert refused.code == 2
    assert "no price is known for model 'fake:'" in refused.err
    assert "input_usd_per_million" in refused.err
    assert not (tmp_path / "runs").exists()


def test_a_budget_of_money_ends_a_run(arena: Arena, small: Path, tmp_path: Path) -> None:
    small.write_text(small.read_text() + PRICE)
    stopped = arena("run", small, "--run-id", "cut", "--max-usd", "0.1")
    assert stopped.code == 2
    assert "of budget.max_usd 0.1" in stopped.err
    spent = manifest(tmp_path / "runs" / "cut")["spent"]
    assert spent["usd"] >= 0.1
    done = arena("run", "--resume", "--run-id", "cut", "--runs-dir", tmp_path / "runs", "--max-usd", "100")
    assert done.code == 0, done.err
    closed_book = board(tmp_path / "runs" / "cut")["cells"][0]
    spending = closed_book["spending"]
    assert closed_book["cost_usd_total"] == pytest.approx(spending["paid_usd"])
    assert closed_book["cost_usd_per_question"] == pytest.approx(spending["usd"] / 5)
    assert "USD" in done.out


def test_prices_are_in_the_manifest_and_the_leaderboard(arena: Arena, small: Path, tmp_path: Path) -> None:
    small.write_text(small.read_text() + PRICE)
    assert arena("run", small, "--run-id", "r1").code == 0
    found = manifest(tmp_path / "runs" / "r1")
    assert found["prices"]["source"].startswith("genai-prices ")
    assert found["prices"] == {
        "source": found["prices"]["source"],
        "as_of": found["started"][:10],
        "own": ["fake:"],
    }
    assert board(tmp_path / "runs" / "r1")["prices"] == found["prices"]


def test_a_reply_is_paid_for_once_and_a_replay_is_no_measurement(arena: Arena, small: Path, tmp_path: Path) -> None:
    small.write_text(small.read_text().replace("{model: 'fake:'}", "{model: 'fake:', seed: 77}") + PRICE)
    first = arena("run", small, "--run-id", "r1", "--cache")
    second = arena("run", small, "--run-id", "r2", "--cache")
    assert (first.code, second.code) == (0, 0)
    paid, replayed = (board(tmp_path / "runs" / name)["cells"][0] for name in ("r1", "r2"))
    assert paid["spending"]["replayed_calls"] == 0
    assert replayed["spending"]["replayed_calls"] == replayed["spending"]["calls"] == 5
    assert replayed["spending"]["paid_usd"] == 0
    assert replayed["spending"]["replayed_usd"] == pytest.approx(paid["spending"]["paid_usd"])
    assert replayed["cost_usd_per_question"] == pytest.approx(paid["cost_usd_per_question"])
    assert replayed["tokens_per_question"] == paid["tokens_per_question"]
    assert replayed["latency_seconds"]["n_measured"] == 0
    assert replayed["metrics"] == paid["metrics"]
    shown = arena("show", tmp_path / "runs" / "r2").out
    assert "seconds of closed_book, oracle are withheld" in " ".join(shown.split())

    anew = arena("run", small, "--run-id", "r3", "--no-cache")
    assert anew.code == 0
    assert board(tmp_path / "runs" / "r3")["cells"][0]["spending"]["replayed_calls"] == 0


def test_a_budget_is_not_charged_for_replays(arena: Arena, small: Path, tmp_path: Path) -> None:
    small.write_text(small.read_text().replace("{model: 'fake:'}", "{model: 'fake:', cache: true, seed: 78}"))
    assert arena("run", small, "--run-id", "r1").code == 0
    done = arena("run", small, "--run-id", "r2", "--max-run-tokens", "1")
    assert done.code == 0, done.err


def test_what_a_run_cost_is_told_by_cell_and_role_and_anew(arena: Arena, with_index: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "r1"
    assert arena("run", with_index, "--run-id", "r1").code == 0
    unpriced = json.loads(arena("cost", folder, "--json").out)
    total = unpriced["total"]
    assert total["input_tokens"] + total["output_tokens"] == tokens(folder)
    assert total["calls"] == 9
    assert (total["usd"], total["unpriced_calls"]) == (None, 9)
    assert [cell["n_questions"] for cell in unpriced["cells"]] == [5, 5, 4]
    assert unpriced["cells"][0]["usd"] == 0
    assert set(unpriced["cells"][1]["roles"]) == {"generate"}
    assert unpriced["strategies"]["oracle"]["calls"] == unpriced["cells"][2]["calls"] == 4

    prices = tmp_path / "prices.yaml"
    prices.write_text(PRICE)
    priced = json.loads(arena("cost", folder, "--config", prices, "--json").out)["total"]
    assert priced["usd"] == pytest.approx((priced["input_tokens"] * 1000 + priced["output_tokens"] * 2000) / 1e6)
    table = arena("cost", folder).out
    assert "closed_book" in table
    assert "No price is known for some calls of 'fake:'" in table


def test_a_dry_run_spends_nothing_and_needs_no_key(arena: Arena, with_index: Path, tmp_path: Path) -> None:
    done = arena("run", with_index, "--llm", "openai:gpt-4o-mini", "--dry-run", "--json")
    assert done.code == 0, done.err
    assert not (tmp_path / "runs").exists()
    expected = json.loads(done.out)
    bare, closed_book, oracle = expected["cells"]
    assert (bare["source"], bare["calls"], bare["usd"]) == ("no model", 0, 0)
    assert (closed_book["source"], closed_book["n_observed"], closed_book["n_questions"]) == ("probe", 3, 5)
    assert (closed_book["calls"], oracle["calls"]) == (5, 4)
    assert 0 < closed_book["usd"] < closed_book["usd_with_full_replies"]
    assert expected["total"]["usd"] == pytest.approx(closed_book["usd"] + oracle["usd"])


def test_a_dry_run_needs_no_price_and_says_what_is_over_budget(arena: Arena, small: Path) -> None:
    unpriced = arena("run", small, "--dry-run", "--max-usd", "1")
    assert unpriced.code == 0, unpriced.err
    assert "No price is known for 'fake:'" in unpriced.out
    over = arena("run", small, "--llm", "openai:gpt-4o-mini", "--dry-run", "--max-usd", "1e-9", "--max-run-tokens", "1")
    assert "more than budget.max_usd 1e-09" in over.out
    assert "more than budget.max_tokens 1" in over.out
    assert "Nothing was spent" in over.out


def test_a_dry_run_takes_its_figures_from_the_last_run_of_the_same_cell(
    arena: Arena, small: Path, tmp_path: Path
) -> None:
    arena("run", small, "--run-id", "r1")
    arena("run", small, "--run-id", "r2", "--limit", "2")
    used = board(tmp_path / "runs" / "r2")["cells"]
    expected = json.loads(arena("run", small, "--dry-run", "--json").out)
    for cell, past in zip(expected["cells"], used, strict=True):
        assert (cell["source"], cell["run_id"], cell["n_observed"]) == ("run", "r2", past["n_questions"])
        assert cell["input_tokens"] == pytest.approx(past["tokens_per_question"]["input"] * cell["n_questions"])
    other = json.loads(arena("run", small, "--dry-run", "--json", "--llm", "openai:gpt-x").out)
    assert [cell["source"] for cell in other["cells"]] == ["probe", "probe"]
    assert other["total"]["usd"] is None
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["r1", "r2"]


def test_a_probe_of_the_fake_itself_expects_what_a_run_then_uses(arena: Arena, small: Path, tmp_path: Path) -> None:
    """Every closed-book prompt is asked here, so nothing is estimated."""
    expected = json.loads(arena("run", small, "--dry-run", "--json", "--limit", "3").out)["cells"][0]
    arena("run", small, "--run-id", "r1", "--limit", "3")
    used = board(tmp_path / "runs" / "r1")["cells"][0]["tokens_per_question"]
    assert expected["source"] == "probe"
    assert expected["input_tokens"] == pytest.approx(3 * used["input"])
    assert expected["output_tokens"] == pytest.approx(3 * used["output"])


def test_a_dry_run_says_what_the_judge_would_take(arena: Arena, with_index: Path, tmp_path: Path) -> None:
    judged = ("--judge", "openai:gpt-4.1", "--llm", "openai:gpt-4o-mini")
    done = arena("run", with_index, *judged, "--set", "judge.repeats=2", "--dry-run", "--json")
    assert done.code == 0, done.err
    expected = json.loads(done.out)
    accuracy, faithfulness = expected["judging"]
    assert (accuracy["metric"], accuracy["llm"]) == ("answer_accuracy", "openai:gpt-4.1")
    assert (accuracy["n_verdicts"], accuracy["n_observed"]) == (18, 6)
    assert 0 < accuracy["usd"] < accuracy["usd_with_full_replies"]
    assert faithfulness["input_tokens"] > faithfulness["output_tokens"] > 0
    parts = [*expected["cells"], *expected["judging"]]
    assert expected["total"]["usd"] == pytest.approx(sum(part["usd"] for part in parts))
    assert expected["total"]["calls"] == pytest.approx(sum(part["calls"] for part in parts))
    table = arena("run", with_index, *judged, "--dry-run").out
    assert "judge: answer_accuracy" in table
    assert not (tmp_path / "runs").exists()


def test_a_dry_run_expects_of_the_judge_what_judging_then_takes(arena: Arena, small: Path, tmp_path: Path) -> None:
    """Every answer is tried here, and the fake judges as itself, so nothing is estimated."""
    assert arena("run", small, "--run-id", "r1", "--limit", "3").code == 0
    dry = json.loads(arena("run", small, "--limit", "3", "--judge", "fake:", "--dry-run", "--json").out)
    assert [cell["source"] for cell in dry["cells"]] == ["run"] * len(dry["cells"])
    assert arena("judge", tmp_path / "runs" / "r1", "--judge", "fake:").code == 0
    cards = {card["metric"]: card for card in board(tmp_path / "runs" / "r1")["judges"]}
    assert any(one["calls"] for one in dry["judging"])
    for one in dry["judging"]:
        if one["calls"]:
            assert one["calls"] == pytest.approx(cards[one["metric"]]["calls"])


def test_a_dry_run_continues_nothing(arena: Arena) -> None:
    done = arena("run", "--dry-run", "--resume")
    assert done.code == 2
    assert "leave one of them out" in done.err
