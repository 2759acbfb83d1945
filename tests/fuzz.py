"""`make fuzz`: the property tests with fresh seeds, round after round, until one breaks or the time is over.

Every round prints its seed and the command that repeats it, as `pytest` alone never takes a seed of its own.
"""

from __future__ import annotations

import argparse
import secrets
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence

NO_TESTS = 5
"""pytest's exit code where none was found."""


def command(seed: int, where: Sequence[str]) -> list[str]:
    """One round."""
    options = ["-q", "-m", "hypothesis", "--hypothesis-profile=fuzz", f"--hypothesis-seed={seed}", "--timeout=0"]
    return ["python", "-m", "pytest", *options, *where]


def main(arguments: Sequence[str]) -> int:
    """The exit code of the first round that breaks; 0 where none does."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("where", nargs="*", default=["tests/unit"], help="files or folders of tests")
    parser.add_argument("--minutes", type=float, default=10.0, help="no round begins later")
    parser.add_argument("--seed", type=int, default=None, help="of the first round; default: a fresh one")
    chosen = parser.parse_args(arguments)
    seed = secrets.randbelow(2**32) if chosen.seed is None else chosen.seed
    ends = time.monotonic() + 60.0 * chosen.minutes
    rounds = 0
    while rounds == 0 or time.monotonic() < ends:
        one = command(seed + rounds, chosen.where)
        sys.stdout.write(f"round {rounds + 1}: {shlex.join(one)}\n")
        sys.stdout.flush()
        code = subprocess.run([sys.executable, *one[1:]], check=False).returncode
        if code != 0:
            why = "there is no property test there" if code == NO_TESTS else f"broken by seed {seed + rounds}"
            sys.stdout.write(f"{why}; to repeat it:\n    {shlex.join(one)}\n")
            return code
        rounds += 1
    sys.stdout.write(f"{rounds} rounds, from seed {seed} on: no property is broken\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
