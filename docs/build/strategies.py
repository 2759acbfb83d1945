"""`python -m docs.build.strategies` writes docs/strategies.md: a fidelity card for every strategy that ships."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from experiments.studies.strategies.facts import StrategyFacts, facts_of
from strategies import STRATEGIES

PATH = Path(__file__).parents[2] / "docs" / "strategies.md"

_HEAD = """# The strategies

Written by `python -m docs.build.strategies` from the strategies' own declarations; `arena strategies show NAME`
prints the same. Settings are given in a config under `strategy_params`, or behind the name, as in
`--strategies adaptive:policy=always_b`.

A tier says what a strategy's judgements are made of, and so what its results may claim:

- **T0**: the model's words alone. The control flow is the paper's; its judgements are labels.
- **T1**: probabilities of the labels. The paper's arithmetic too, over a judge that was prompted, not trained.
- **T2**: the paper's trained model. Only this can be set beside published figures, under the paper's conditions.

The tier named here is the highest that the strategy can run at; `arena show RUN` says at which it ran. Where a model
gives no label probabilities, a strategy of tier T1 runs at T0."""


def render(listed: Iterable[StrategyFacts]) -> str:
    """The whole page."""
    facts = list(listed)
    overview = _table(
        ("strategy", "tier", "needs", "what it does"),
        [
            (f"[{one.name}](#{one.name})", one.tier or "-", ", ".join(one.needs) or "nothing", one.summary)
            for one in facts
        ],
    )
    return "\n\n".join([_HEAD, overview, *("\n\n".join(_section(one)) for one in facts)]) + "\n"


def _section(facts: StrategyFacts) -> Iterator[str]:
    yield f"## {facts.name}"
    yield f"{facts.summary[0].upper()}{facts.summary[1:]}."
    if facts.paper:
        yield f"Paper: {facts.paper}"
    yield f"```mermaid\n{facts.figure}\n```"
    if facts.decides:
        yield "Where it decides:\n\n" + "\n".join(f"- {point}" for point in facts.decides)
    if facts.roles:
        yield "What it asks a model for:\n\n" + _table(
            ("role", "question"), [(f"`{r}`", w) for r, w in facts.roles.items()]
        )
    if facts.settings:
        rows = [(f"`{s.name}`", s.kind, _default(s.default), s.description) for s in facts.settings]
        yield "Settings:\n\n" + _table(("setting", "values", "default", "meaning and source"), rows)
    if facts.clauses:
        clauses = [(clause.says, clause.status, clause.how) for clause in facts.clauses]
        yield "Beside the paper:\n\n" + _table(("the paper says", "here", "how, or why not"), clauses)


def _default(written: str | None) -> str:
    return "must be given" if written is None else f"`{written}`"


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = (headings, ["---"] * len(headings), *([_cell(text) for text in row] for row in rows))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    """One line of a table: what would end the cell or be taken for HTML is escaped."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    PATH.write_text(render(facts_of(spec) for spec in STRATEGIES.values()), encoding="utf-8")
