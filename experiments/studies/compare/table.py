"""Compared runs on a terminal, or as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from rich.table import Table
from rich.text import Text

from arena.leaderboard.build import Leaderboard
from arena.report.sections.leaderboard import Column, columns_of, leaderboard_rows, narrowings
from arena.report.sections.limits import caption, legend, notes
from arena.report.text import Rows, natural_chars, print_parts, text_table
from experiments.studies.compare.compare import RUN, Compared
from experiments.terminal.tables import Console, as_json


def print_compared(compared: Compared, console: Console, *, json: bool = False) -> None:
    """The leaderboard with the run of every row, what differs between the runs, and what follows from it."""
    if json:
        console.file.write(as_json(compared_fields(compared)) + "\n")
        return
    board = compared.board
    columns, rows = _fitting(board, console)
    dropped = [column for column in columns_of(board) if column not in columns]
    print_parts(
        [Text(caption(board), style="bold"), rows, legend(board), *compared.notes, *notes(board, dropped)], console
    )
    print_parts([Text("What differs between the runs", style="bold"), *_differences(compared)], console)


def compared_fields(compared: Compared) -> dict[str, Any]:
    """leaderboard.json's form, with `runs`, `differences` and `notes` beside it. Each cell's `params` name its run."""
    return {
        **compared.board.model_dump(mode="json"),
        "runs": [asdict(run) for run in compared.runs],
        "differences": [asdict(one) for one in compared.differences],
        "notes": list(compared.notes),
    }


def _fitting(board: Leaderboard, console: Console) -> tuple[Sequence[Column], Rows]:
    """As many columns as the terminal has room for; all of them in a pipe or file."""
    for kept in narrowings(columns_of(board)):
        rows = _rows(board, kept)
        if not console.is_terminal or natural_chars(text_table(rows), console) <= console.width:
            break
    return kept, rows


def _rows(board: Leaderboard, columns: Sequence[Column]) -> Rows:
    """The leaderboard's rows, the run of each before its other names instead of among its settings."""
    named = board.model_copy(
        update={
            "cells": [
                cell.model_copy(update={"params": {name: one for name, one in cell.params.items() if name != RUN}})
                for cell in board.cells
            ]
        }
    )
    rows = leaderboard_rows(named, columns)
    return replace(
        rows,
        headings=("run", *rows.headings),
        rows=tuple((str(cell.params[RUN]), *row) for cell, row in zip(board.cells, rows.rows, strict=True)),
        n_names=rows.n_names + 1,
    )


def _differences(compared: Compared) -> Iterator[str | Table]:
    if not compared.differences:
        yield "Nothing: data, settings, code, prompts, judges, prices and machine are the same."
        return
    table = Table("setting")
    for run in compared.runs:
        table.add_column(Text(run.name))
    table.add_column("may change")
    for one in compared.differences:
        values = (Text(one.shown(run.name)) for run in compared.runs)
        table.add_row(Text(one.setting), *values, one.concerns)
    yield table
