from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from arena.config import RunConfig
from arena.leaderboard.metrics import QuestionResamples
from arena.leaderboard.schema import MetricSummary
from arena.types import Question
from experiments.studies.sweep.config import Points, SweepPoint, short_values
from experiments.studies.sweep.curves import MEASURED, Curve, SweepRow, csv_text, curves_of
from experiments.studies.sweep.output import Sweep, print_sweep
from experiments.studies.sweep.picture import curves_svg
from experiments.terminal.tables import Console
from tests.unit.leaderboard.boards import row

N = 60
IDS = tuple(f"q{number:03}" for number in range(N))
QUESTIONS = tuple(Question(one, "?", "single_hop") for one in IDS)


def at(k: int, scores: np.ndarray[Any, Any], **others: Any) -> tuple[SweepRow, tuple[Any, Any]]:
    """A row at `retrieval.k` = k and its values of answer_f1."""
    summary = MetricSummary(mean=float(scores.mean()), ci_low=0.0, ci_high=1.0, n=N, coverage=1.0)
    cell = row("vanilla", "dense").model_copy(update={"metrics": {"answer_f1": summary}})
    values = {"retrieval.k": k, **others}
    name = "_".join(f"{key}-{value}" for key, value in values.items())
    point = SweepPoint(name, name, values, RunConfig(dataset="world"))
    return SweepRow(point, cell, 0, MEASURED, "run_0", "2026-01-01", {}, None), (IDS, scores)


def curve(*points: tuple[SweepRow, tuple[Any, Any]]) -> Curve:
    values = {one.point.name: {(one.cell.cell, "answer_f1"): found} for one, found in points}
    (found,) = curves_of([one for one, _ in points], values, QuestionResamples(QUESTIONS, 0), 0)
    return found


def right(count: int) -> np.ndarray[Any, Any]:
    return (np.arange(N) < count).astype(np.float64)


def test_a_value_that_may_lose_far_more_than_the_margin_is_not_enough() -> None:
    """At k = 1 four questions less are right: no significant loss, and the interval reaches far beyond the margin."""
    found = curve(at(1, right(30)), at(3, right(34)), at(5, right(34)))
    assert found.not_shown_worse is not None
    assert found.enough is not None
    assert (found.not_shown_worse.value, found.not_shown_worse.best) == (1, 3)
    assert found.not_shown_worse.high is not None
    assert found.not_shown_worse.high > 0.1
    assert (found.enough.value, found.enough.best) == (3, 3)


def test_a_value_whose_whole_interval_is_within_the_margin_is_enough() -> None:
    same = curve(at(1, right(30)), at(3, right(30)), at(5, right(10)))
    assert same.enough is not None
    assert same.enough.value == 1


SECTIONS = [
    json.dumps({"model": name, "temperature": 0.0, "max_tokens": 512, "base_url": None}, sort_keys=True)
    for name in ("openai:a", "openai:b")
]


def test_of_a_section_only_what_differs_is_shown() -> None:
    points = [at(1, right(3), llm=section)[0].point for section in SECTIONS]
    short = short_values(points)
    assert [short["llm"][section] for section in SECTIONS] == ["model=openai:a", "model=openai:b"]
    assert short["retrieval.k"] == {}


def printed(rows: list[SweepRow]) -> str:
    points = tuple(dict.fromkeys(one.point.name for one in rows))
    by_name = {one.point.name: one.point for one in rows}
    sweep = Sweep(Path("runs/s1"), "f", "grid", Points(tuple(by_name[name] for name in points)), tuple(rows))
    out = io.StringIO()
    print_sweep(sweep, Console(file=out, width=400), json=False)
    return out.getvalue()


def test_a_sweep_of_models_shows_names_and_announces_no_picture_that_is_not_there() -> None:
    text = printed([at(1, right(3), llm=section)[0] for section in SECTIONS])
    assert "model=openai:a" in text
    assert "max_tokens" not in text
    assert "curves.svg" not in text


def test_of_a_grid_the_best_points_of_each_cell_are_shown() -> None:
    rows = [at(k, right(k), depth=depth)[0] for k in range(1, 13) for depth in range(5)]
    text = printed(rows)
    assert "the other 55 rows are in sweep.csv" in text
    assert len(text.splitlines()) < 20


@pytest.mark.parametrize(("depths", "told"), [(3, 3), (26, 1)])
def test_a_legend_of_many_curves_names_cells_alone(depths: int, told: int) -> None:
    made = [
        Curve("k", "answer_f1", "vanilla", "dense", None, 0, {"depth": depth}, curve_points(), None, None, None)
        for depth in range(depths)
    ]
    svg = curves_svg(made)
    assert svg.count("vanilla + dense") >= told
    assert ("depth=2" in svg) == (depths == 3)


def test_the_picture_has_each_point_band_and_elbow_once_and_is_xml() -> None:
    points = tuple(replace(one, low=None) if place == 0 else one for place, one in enumerate(curve_points()))
    named = Curve("a<b", "answer_f1", "vanilla", "dense", None, 0, {}, points, points[1].value, None, None)
    parts = [one.tag.rpartition("}")[2] for one in ElementTree.fromstring(curves_svg([named]))]
    assert parts.count("polygon") == parts.count("polyline") == 1
    assert parts.count("circle") == len(points) + 2  # the elbow's ring, and the one of the legend
    assert curves_svg([named]) == curves_svg([named])


def curve_points() -> tuple[Any, ...]:
    return curve(at(1, right(3)), at(2, right(5))).points


def test_a_name_in_the_table_is_no_formula() -> None:
    named = replace(at(5, right(N))[0], source="=HYPERLINK(1)")
    (found,) = csv.DictReader(io.StringIO(csv_text([named])))
    assert found["source"] == "'=HYPERLINK(1)"
