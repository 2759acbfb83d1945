"""Nothing that comes from data, settings or a server steers the terminal of whoever looks at it."""

from __future__ import annotations

import ast
import json
from io import StringIO
from pathlib import Path

import pytest
from rich.table import Table

from arena.report.text import natural_chars
from experiments.terminal.progress import Reporter
from experiments.terminal.tables import Console, print_table, put, visible
from tests.integration.conftest import Arena

ROOT = Path(__file__).parents[2]
HOSTILE = "da\x1b[31mta\x1b]0;owned\x07\x9b2J\u202e"
SHOWN = r"da\x1b[31mta\x1b]0;owned\x07\u009b2J\u202e"


def clean(text: str) -> bool:
    return not any(character in text for character in "\x1b\x07\x9b\u202e")


def test_controls_are_shown_and_lines_stay() -> None:
    assert visible(f"{HOSTILE}\n\tend\r\n") == f"{SHOWN}\n\tend\n"
    assert visible("Zoë 東京 👩‍🔬 नमस्ते") == "Zoë 東京 👩‍🔬 नमस्ते"


def test_json_stays_the_same_json(capsys: pytest.CaptureFixture[str]) -> None:
    put(json.dumps({"name": HOSTILE, "del": "\x7f"}, ensure_ascii=False))
    printed = capsys.readouterr().out
    assert clean(printed)
    assert json.loads(printed) == {"name": HOSTILE, "del": "\x7f"}


@pytest.mark.parametrize("terminal", [False, True])
def test_tables_notes_and_progress_are_clean_and_still_coloured(terminal: bool) -> None:
    stream = StringIO()
    console = Console(file=stream, force_terminal=terminal, width=200, color_system="standard" if terminal else None)
    table = Table(HOSTILE, title=HOSTILE)
    table.add_row(HOSTILE, style="red")
    print_table(table, [HOSTILE], console)
    reporter = Reporter(console)
    reporter.warn(HOSTILE)
    with reporter.bytes(HOSTILE) as advance:
        advance(1, 2)
    printed = stream.getvalue()
    assert natural_chars(table, console) > 0
    assert "\x1b]0;owned" not in printed
    assert "\x9b" not in printed
    assert "\u202e" not in printed
    assert SHOWN.replace(r"\x07", "") in printed  # the library leaves the bell out itself
    assert ("\x1b[31m" in printed) == terminal  # the red of the row is our own
    assert "da\x1b" not in printed


def test_a_hostile_folder_and_model_reach_no_terminal(arena: Arena, study: Path, jsonl_folder: Path) -> None:
    data = jsonl_folder.rename(jsonl_folder.with_name(HOSTILE.replace("/", "")))
    study.write_text(study.read_text() + "strategies: [closed_book, oracle]\n")
    runs = study.parent / "runs"
    started = arena("run", study, "--dataset", f"jsonl:{data}", "--run-id", "a")
    assert started.code == 0, started.err
    assert arena("run", study, "--dataset", f"jsonl:{data}", "--run-id", "b").code == 0
    said = [started]
    said += [
        arena("show", runs / "a"),
        arena("score", runs / "a", "--details"),
        arena("compare", runs / "a", runs / "b"),
    ]
    said += [arena("datasets", "info", f"jsonl:{data}"), arena("verify", runs / "a"), arena("cost", runs / "a")]
    said += [arena("run", study, "--dataset", f"jsonl:{data}-gone"), arena("run", study, "--llm", f"fake:{HOSTILE}")]
    assert all(clean(done.out + done.err) for done in said)
    assert any(r"\x1b[31mta" in done.out + done.err for done in said)


def test_nothing_is_printed_past_the_one_place() -> None:
    """The commands print through `experiments.terminal.tables`, and tables are drawn by its console."""
    for path in (ROOT / "experiments").rglob("*.py"):
        if path.relative_to(ROOT).as_posix() == "experiments/terminal/tables.py" or "bench" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "rich.console":
                assert not {"Console"} & {name.name for name in node.names}, path
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "print", path
