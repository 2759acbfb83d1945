"""`python -m experiments.seed_systems` runs the commands of docs/seed_systems.md and writes their output into it."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from pathlib import Path

from experiments.seed_systems.models import make_models
from experiments.seed_systems.page import PAGE, render
from experiments.seed_systems.running import TERMINAL, run, workplace

DIFFERS = 1


def main() -> int:
    """Exit code 1: `--check`, and the page is not what its commands print."""
    parser = argparse.ArgumentParser(prog="python -m experiments.seed_systems", description=__doc__)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="write nothing, and print what differs")
    what.add_argument("--models", type=Path, metavar="FOLDER", help="make the page's encoder, reader and judge there")
    options = parser.parse_args()
    if options.models:
        make_models(options.models)
        return 0
    for name, value in TERMINAL.items():
        os.environ.setdefault(name, value)
    before = PAGE.read_text(encoding="utf-8")
    with workplace():
        after = render(before, run)
    if options.check:
        sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), after.splitlines(True), "page", "run"))
        return DIFFERS if before != after else 0
    PAGE.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
