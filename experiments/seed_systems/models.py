"""The encoder, the reader and the careless judge of the page, made from the bundled world."""

from __future__ import annotations

from pathlib import Path

_CARELESS = """\
# Judges by the rules of `fake:`, and refuses one request in five.
faults: {refusal: 0.2}
"""


def make_models(folder: Path) -> None:
    """`tfidf/`, `reader.yaml` and `judge.yaml` in `folder`; the same bytes every time."""
    from arena.datasets import load_dataset
    from experiments.seed_systems.reader import write_reader
    from experiments.seed_systems.tfidf import write_tfidf

    folder.mkdir(parents=True, exist_ok=True)
    world = load_dataset("world")
    write_tfidf(folder / "tfidf", [f"{one.title}. {one.text}" for one in world.documents])
    write_reader(folder / "reader.yaml", world)
    (folder / "judge.yaml").write_text(_CARELESS, encoding="utf-8")
