"""The page of the seed systems: its commands, run as they stand there, print the figures that stand there."""

from __future__ import annotations

import re

import pytest

from docs.build.seed_systems import PAGE, TERMINAL, render, run, workplace


def test_the_commands_of_the_page_print_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Encoder and reader are made here, so that no weights are needed."""
    for name, value in TERMINAL.items():
        monkeypatch.setenv(name, value)
    page = PAGE.read_text(encoding="utf-8")
    with workplace():
        printed = render(page, run)
    assert printed.splitlines() == page.splitlines(), "run python -m docs.build.seed_systems"


def test_every_section_runs_a_command_and_says_how_to_do_it_at_full_size() -> None:
    _, *sections = re.split(r"^## \d\. ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(sections) == 5
    for section in sections:
        for needed in ("*It measured*", "*Here*", "<!-- run: arena ", "*At full size*: `arena "):
            assert needed in section, (needed, section[:60])
