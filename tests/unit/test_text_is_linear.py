"""Whatever a text looks like, reading it takes time that grows with its length: a run's event loop reads them all."""

from __future__ import annotations

import inspect
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

from pydantic import BaseModel

from arena import text
from arena.judges.reading import judged_sentences, words_of
from arena.llm.fake import judging as extractive
from arena.llm.labels import read_label
from arena.llm.parameters import _most_alternatives, _named
from arena.llm.structured import read_object
from arena.metrics.answer import contains, exact_match, lexical_citation_precision, rouge_l, supported_share, token_f1
from arena.types import Passage
from strategies.answer import parse_answer, passage_sentences, render_passages
from strategies.corrective.refining import parse_keywords
from strategies.ircot.graph import ending
from strategies.ircot.prompt import first_sentence, is_reasoning, query_from
from strategies.self_rag.checkpoint import _RESERVED, _SHOWN
from strategies.self_rag.prompted import next_sentence

LENGTH = 100_000
SHORTER = 20_000
CPU_SECONDS = 90
"""Ten times what is needed: a pattern that goes back and forth over one of the long texts needs more than this."""

PIECES = (
    *("1", ".", " ", "<", "1,", "1.", ". ", "a. ", "1 + ", "'", '"', "[1", "[1, ", "(", "*", "\n", "\t", "`", "_"),
    *("a", "A", "A.", "St. ", "Answer: ", "the answer is ", "**", "<think>", "</think>", "<think></think>"),
    *("</s>", " </s>", "\u3002", "\u3002\u300d", "\u4eac", "\u0e01\u0e48", "\u0627\u0644", "\u0301", "\u0964 "),
    *("\u00e9. ", "\ufb01", "\u2026", "1 + 1 = ", "{", '{"a":', '{"', "Question: ", "[1] x: ", "top_p ", "not "),
    *("only ", "i do not ", "keywords (", "next sentence: ", "- "),
)
WORST = ("1", ".", " ", "<", "\u3002")
ENDS = ("", "x", " x", "1 = 1", "\u300d\u3068", " = ")


class _Form(BaseModel):
    a: int


def _readers() -> dict[str, Callable[[str], object]]:
    """Every function that reads what a model or a stranger wrote, by name."""

    def whole(function: Callable[..., Any], *beside: Any, **named: Any) -> Callable[[str], object]:
        return lambda said: function(said, *beside, **named)

    from_text = {
        name: whole(function, **({"pairs": True, "singles": True} if name == "spaced" else {}))
        for name, function in inspect.getmembers(text, inspect.isfunction)
        if not name.startswith("_") and function.__module__ == text.__name__ and name not in ("stops", "searchable")
    }
    return from_text | {
        "stops": lambda said: list(text.stops(said)),
        "searchable": whole(text.searchable, singles=True),
        "parse_answer": parse_answer,
        "passage_sentences": passage_sentences,
        "first_sentence": first_sentence,
        "is_reasoning": is_reasoning,
        "query_from": query_from,
        "ending": lambda said: ending([said], silent=False, cap=9),
        "next_sentence": lambda said: next_sentence(said, said),
        "parse_keywords": whole(parse_keywords, 3),
        "render_passages": lambda said: render_passages([Passage("p", "d", said, said, 0, len(said))]),
        "checkpoint": lambda said: (_SHOWN.sub("", said), _RESERVED.sub("", said)),
        "read_label": whole(read_label, ("yes", "no")),
        "read_object": whole(read_object, _Form),
        "words_of": words_of,
        "judged_sentences": lambda said: judged_sentences(said, [(said, 1)]),
        "exact_match": lambda said: exact_match(said, [said]),
        "token_f1": lambda said: token_f1(said, [said]),
        "contains": lambda said: contains(said, [said]),
        "rouge_l": lambda said: rouge_l(said, [said]),
        "supported_share": lambda said: supported_share(said, [said]),
        "lexical_citation_precision": lambda said: lexical_citation_precision(said, [said]),
        "extractive": extractive.answer,
        "unsupported": lambda said: (_named(None, said[:10_000], frozenset({"top_p"})), _most_alternatives(said, 99)),
    }


def _texts() -> Iterator[str]:
    for place, piece in enumerate(PIECES):
        body = piece * ((LENGTH if piece in WORST else SHORTER) // len(piece))
        yield from (body + end for end in (ENDS if piece in WORST else ENDS[place % len(ENDS) :][:1]))
    yield "".join(PIECES) * (LENGTH // len("".join(PIECES)))


def test_every_reader_is_through_with_every_text() -> None:
    """In a process of its own, which the system ends after far more time than is needed."""
    done = subprocess.run(
        [sys.executable, "-c", f"import runpy; runpy.run_path({__file__!r})['read_all']()"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stderr[-2_000:]}\nlast begun: {done.stdout[-200:]}"


def read_all() -> None:
    """Read every hostile text with every reader, saying what is begun."""
    from arena.errors import StrategyError

    for name, reader in _readers().items():
        for said in _texts():
            sys.stdout.write(f"{name} {said[:20]!r} {said[-8:]!r}\n")
            sys.stdout.flush()
            try:
                reader(said)
            except StrategyError:
                continue
