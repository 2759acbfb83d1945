"""What a strategy is: its spec, its settings, the graph that runs it, and its fidelity to a paper.

A spec names the trained model that the settings ask for; a run opens it and hands it over in `Tools`. Settings that may
come from a calibration say whose judgements they were chosen on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self

from langgraph.errors import GraphRecursionError
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from arena.errors import AllowanceSpent, ConfigError, StrategyError, setting_problems
from arena.files import read_yaml_file
from arena.identity import short_hash
from arena.protocols import Tools
from arena.types import Attempt, Decision, Task, Tier
from strategies.answer import TEMPLATES
from strategies.nodes import generate


class Params(BaseModel):
    """Base of a strategy's settings: frozen, an unknown key is an error. A field's description names its source.

    As it is, nothing can be set.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")


Status = Literal["implemented", "adapted", "left out"]


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing the paper says, and what became of it here; `how` is the way or the reason."""

    says: str
    status: Status
    how: str


@dataclass(frozen=True, slots=True)
class FidelityCard:
    """A strategy beside its paper: the reference, where it decides, clause by clause what is implemented.

    In Python, or as a YAML file of the same keys (`strategies/ircot/card.yaml`).
    """

    paper: str
    decides: tuple[str, ...]
    clauses: tuple[Clause, ...]


@cache
def read_card(path: Path) -> FidelityCard:
    """The card in a YAML file, read once. Raises `ConfigError` for one that is missing, or is no card."""
    try:
        return TypeAdapter(FidelityCard).validate_python(read_yaml_file(path, "fidelity card"))
    except ValidationError as error:
        raise ConfigError(f"fidelity card {str(path)!r}: {setting_problems(error, lambda _: ())}") from None


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """`role`: the field of `Tools` that it is handed over in. `kind` and `model` say which one: a folder, or a name.

    `model` None is the run's own of that kind.
    """

    role: Literal["evaluator", "router"]
    kind: Literal["t5", "cross_encoder", "folder"]
    model: str | None = None


Evidence = Literal["index", "gold", "gold_minus_one", "gold_plus_distractors", "none"]
Edges = frozenset[tuple[str, str]]
Graph = CompiledStateGraph[Any, Tools, Any, Any]
Salvage = Callable[[Any, Runtime[Tools]], Awaitable[Any]]

MOST_STEPS = 500
"""Steps of a graph on one question, above what the caps of any strategy let it take: only a loop gets here."""


def path(*nodes: str) -> Edges:
    """The edges that lead from each of `nodes` to the next."""
    return frozenset(pairwise(nodes))


def named(*nodes: Any) -> dict[str, Any]:
    """Nodes under the names of their functions."""
    return {node.__name__: node for node in nodes}


def wired(
    name: str,
    state: type[Any],
    figure: Edges,
    nodes: Mapping[str, Any],
    ways: Mapping[str, Callable[[Any], Awaitable[Any]]] = MappingProxyType({}),
    last: Collection[str] = (),
) -> Graph:
    """The graph with exactly the edges of `figure`.

    `ways`: node -> the router that chooses among the edges that leave it; a coroutine, because LangGraph sends a plain
    function to a thread, which costs more than all of its work. `last`: nodes that run once, when all before are
    through.
    """
    graph = StateGraph(state, context_schema=Tools)
    for node, action in nodes.items():
        graph.add_node(node, action, defer=node in last)
    for source, edges in groupby(sorted(figure), itemgetter(0)):
        targets = [target for _, target in edges]
        if source in ways:
            graph.add_conditional_edges(source, ways[source], targets)
        else:
            for target in targets:
                graph.add_edge(source, target)
    return graph.compile(name=name)


@dataclass(frozen=True, slots=True)
class GraphStrategy:
    """A compiled graph as a `Strategy`: one invocation per question, nothing shared between them.

    When the question has used up its calls or tokens, the node `salvage` makes the best answer of the state so far;
    it may still make calls under the role `generate`.
    """

    graph: Graph
    salvage: Salvage = generate

    async def attempt(self, task: Task, tools: Tools) -> Attempt:
        state: dict[str, Any] = {"question": task.question, "style": task.style}
        steps = self.graph.astream(state, context=tools, stream_mode="values", config={"recursion_limit": MOST_STEPS})
        try:
            async for after in steps:
                state = dict(after)
        except GraphRecursionError:
            raise StrategyError(
                f"the graph took {MOST_STEPS:,} steps and did not end: give the loop in it an exit that is always "
                "reached, such as a number of rounds"
            ) from None
        except AllowanceSpent as spent:
            made = await self.salvage(state, Runtime(context=tools))
            stopped = Decision("allowance", "spent", changed=("answer",), subject=str(spent))
            decisions = (*state.get("decisions", ()), *made.get("decisions", ()), stopped)
            return Attempt(made["answer"], decisions)
        if "answer" not in state:
            raise StrategyError("the graph ended without an answer: some path does not write `answer`")
        return Attempt(state["answer"], tuple(state.get("decisions", ())))


@dataclass(frozen=True, slots=True)
class StrategySpec:
    """One row of the STRATEGIES table.

    `figure` is the edge set of the paper's figure; the graph must have exactly these. `build` makes the graph for an
    instance of `params`. `evidence`: `index` runs once per retrieval mode of the comparison; `gold` is given each
    question's own supporting documents through the retriever seam, and questions without any are not asked;
    `gold_minus_one` is given all but one of them, and questions with fewer than two are not asked;
    `gold_plus_distractors` is given them among as many other documents as its setting `distractors` says; `none` never
    retrieves. `tier` is the highest fidelity to the paper that it can run at (None: a baseline or control, with
    no paper's arithmetic to be faithful to). `card`: the fidelity card, or the YAML file that holds it. `roles`: what
    it asks a model for, under any settings (ledger role -> question). `prompts`: its own prompts, whose hash is part of
    a run's identity. `uses_external`: whether, under given params, it searches the external source; `trained`: which
    trained model it then asks (None: none).
    """

    name: str
    summary: str
    figure: Edges
    build: Callable[[Any], GraphStrategy]
    params: type[Params] = Params
    evidence: Evidence = "index"
    needs_model: bool = True
    tier: Tier | None = None
    card: FidelityCard | Path | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    prompts: tuple[str, ...] = ()
    uses_external: Callable[[Any], bool] = lambda _: False
    trained: Callable[[Any], TrainedModel | None] = lambda _: None

    @property
    def fidelity(self) -> FidelityCard | None:
        """The card, read now where a file holds it: a run never asks. None for a baseline or control."""
        return read_card(self.card) if isinstance(self.card, Path) else self.card

    @property
    def prompts_sha(self) -> str:
        """16 hex digits that change with any prompt of the strategy or of the shared final answer."""
        texts = "\0".join((*TEMPLATES, *self.prompts))
        return short_hash(texts)


CALIBRATED = "calibrated"
"""Origin of a threshold in the decisions that it made."""


class CalibratedParams(Params):
    """Base of settings some of which `arena calibrate` can choose; `calibratable` names those.

    A scale belongs to whoever judged: whether `calibrated_for` is who judges now is for those to check who know.
    """

    calibratable: ClassVar[tuple[str, ...]] = ()

    calibrated: tuple[str, ...] | None = Field(
        default=None,
        min_length=1,
        description="Names of the thresholds set beside it that `arena calibrate` chose; decisions made by them say "
        "so. In a config file only, as `arena calibrate` writes it.",
    )
    calibrated_for: str | None = Field(
        default=None,
        min_length=1,
        description="Whose judgements they were chosen on, as in `probabilities of openai:NAME`; refused where "
        "another evaluator or model judges.",
    )

    @model_validator(mode="after")
    def _calibrated_and_set(self) -> Self:
        if (self.calibrated is None) != (self.calibrated_for is None):
            raise ValueError("calibrated and calibrated_for belong together: set both, as `arena calibrate` does")
        for name in self.calibrated or ():
            if name not in self.calibratable:
                raise ValueError(f"calibrated names {name!r}: what can be is {', '.join(self.calibratable)}")
            if name not in self.model_fields_set or getattr(self, name) is None:
                raise ValueError(f"calibrated names {name!r}, which is not set: set it, or leave it out of calibrated")
        return self

    def is_calibrated(self, name: str) -> bool:
        """Whether a setting was chosen by a calibration."""
        return name in (self.calibrated or ())
