"""RunConfig -> concrete objects. The only place where contestants, equipment and models meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.config import RunConfig
from arena.datasets import load_dataset
from arena.errors import ConfigError, UnknownNameError
from arena.llm import model_identity
from arena.protocols import ChatModel, EvidenceSource, RetrievalSettings, Retriever
from arena.runner import Contestant
from arena.sampling import sample
from arena.types import GOLD_MODE, NO_RETRIEVAL_MODE, Cell, Dataset, Question, Scalar
from experiments.evidence import GoldDocuments, NoEvidence, SharedIndex
from indexing.retriever import MODES
from strategies import StrategySpec, find_strategy


@dataclass(frozen=True, slots=True)
class Entry:
    """A cell before its equipment is ready: who competes, how, and on which questions."""

    cell: Cell
    spec: StrategySpec
    settings: RetrievalSettings
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Lineup:
    """The dataset and everyone who competes on it, in the order of the config."""

    dataset: Dataset
    entries: tuple[Entry, ...]

    @property
    def needs_index(self) -> bool:
        return any(entry.spec.evidence == "index" for entry in self.entries)

    @property
    def needs_model(self) -> bool:
        return any(entry.spec.needs_model for entry in self.entries)

    @property
    def asked(self) -> dict[str, tuple[Question, ...]]:
        """Cell key -> its questions."""
        return {entry.cell.key: entry.questions for entry in self.entries}

    @property
    def tiers(self) -> dict[str, str | None]:
        """Strategy -> fidelity tier."""
        return {entry.spec.name: entry.spec.tier for entry in self.entries}


def line_up(config: RunConfig) -> Lineup:
    """Check every name of the config, load the dataset, draw the samples. Touches no model and no index."""
    specs = [find_strategy(name) for name in config.strategies]
    for mode in config.modes:
        if mode not in MODES:
            raise UnknownNameError("retrieval mode", mode, MODES)
    dataset = load_dataset(config.dataset)
    samples = {needs_model: _sample(config, dataset, needs_model=needs_model) for needs_model in (False, True)}
    entries = tuple(
        Entry(cell, spec, settings, _askable(spec, samples[spec.needs_model], dataset))
        for spec in specs
        for cell, settings in _cells(config, spec)
    )
    for entry in entries:
        if not entry.questions:
            raise ConfigError(
                f"{entry.spec.name} has no question to answer in {config.dataset!r}: it needs gold documents and the "
                "sample holds none; leave it out of --strategies or raise --limit"
            )
    return Lineup(dataset, entries)


def contestants(lineup: Lineup, retriever: Retriever | None, model: ChatModel | None) -> tuple[Contestant, ...]:
    """Entries with their equipment: all of them share the one retriever and the one model."""
    sources: dict[str, EvidenceSource] = {"none": NoEvidence(), "gold": GoldDocuments.of(lineup.dataset)}
    if retriever is not None:
        sources["index"] = SharedIndex(retriever)
    return tuple(
        Contestant(
            cell=entry.cell,
            strategy=entry.spec.build(),
            evidence=sources[entry.spec.evidence],
            settings=entry.settings,
            model=model if entry.spec.needs_model else None,
            questions=entry.questions,
        )
        for entry in lineup.entries
    )


def _sample(config: RunConfig, dataset: Dataset, *, needs_model: bool) -> tuple[Question, ...]:
    """The questions of all cells that do (not) call a model; the smaller sample is drawn from the larger."""
    rule = config.sample
    questions = sample(dataset.questions, rule.limit, balance=rule.balance, seed=config.seed)
    limit = rule.model_limit if needs_model else None
    return sample(questions, limit, balance=rule.balance, seed=config.seed)


def _askable(spec: StrategySpec, questions: Sequence[Question], dataset: Dataset) -> tuple[Question, ...]:
    if spec.evidence != "gold":
        return tuple(questions)
    return tuple(question for question in questions if dataset.gold[question.question_id].supporting_ids)


def _cells(config: RunConfig, spec: StrategySpec) -> list[tuple[Cell, RetrievalSettings]]:
    fixed = {"gold": GOLD_MODE, "none": NO_RETRIEVAL_MODE}
    modes = [fixed[spec.evidence]] if spec.evidence in fixed else list(config.modes)
    return [(_cell(config, spec, mode), _settings(config, mode)) for mode in modes]


def _settings(config: RunConfig, mode: str) -> RetrievalSettings:
    fused = mode == "hybrid"
    wanted = config.retrieval
    return RetrievalSettings(mode, wanted.k, wanted.depth if fused else None, wanted.rrf_k if fused else None)


def _cell(config: RunConfig, spec: StrategySpec, mode: str) -> Cell:
    params: dict[str, Scalar] = {}
    if spec.evidence == "index":
        settings = _settings(config, mode)
        wanted = {"k": settings.k, "depth": settings.depth, "rrf_k": settings.rrf_k}
        params |= {name: value for name, value in wanted.items() if value is not None}
    if spec.needs_model:
        llm = config.llm
        params |= {"temperature": llm.temperature, "max_tokens": llm.max_tokens, "seed": llm.seed}
        if llm.base_url:
            params["base_url"] = llm.base_url
    return Cell(spec.name, mode, model_identity(config.llm) if spec.needs_model else None, params)
