"""A system as a program of its own, standard library only; its arguments say how it misbehaves, a word per question."""

from __future__ import annotations

import json
import os
import sys
import time


def say(text: str) -> None:
    """A line to whoever asks."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(ways: list[str]) -> None:
    """Answer until nobody asks any more."""
    say("a banner, which is no answer")
    for asked, line in enumerate(sys.stdin):
        query = json.loads(line)
        reply = {"id": query["id"], "answer": "1871", "retrieved": ["d1"], "input_tokens": 2, "output_tokens": 1}
        way = ways[asked % len(ways)] if ways else "answer"
        if way == "die":
            sys.stderr.write("out of memory\n")
            sys.stderr.flush()
            os._exit(7)
        if way == "hang":
            time.sleep(600)
        if way == "stale":
            say(json.dumps({"id": "q_0000", "answer": "of another question"}))
        if way == "nameless":
            del reply["id"]
        if way == "environment":
            reply["answer"] = ",".join(sorted(os.environ))
        say(json.dumps({"id": query["id"]} if way == "empty" else reply))


if __name__ == "__main__":
    main(sys.argv[1:])
