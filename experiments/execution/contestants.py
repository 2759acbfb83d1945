"""Who competes in a run: the entries that a config names, and the contestants that they become.

An `Entry` is a strategy under one retrieval mode with its questions. A `Contestant` (of `arena.runner`) has besides the
identity of its cell and everything that it needs to answer. Nothing here opens a model or an index.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from arena.config import RunConfig
from arena.datasets import load_dataset
from arena.errors import ConfigError, StrategyError, UnknownNameError
from arena.llm.limits import Allowance
from arena.llm.providers import model_identity
from arena.protocols import ChatModel, Evaluator, EvidenceSource, RetrievalSettings, Router
from arena.runner import Contestant
from arena.sampling import in_part, named, sample
from arena.types import GOLD_MODE, NO_RETRIEVAL_MODE, Cell, Dataset, Question, Scalar, Tier
from experiments.execution.equipment import Equipment, Reranking
from experiments.execution.evidence import GoldAmongDistractors, GoldDocuments, NoEvidence, SharedIndex
from experiments.execution.extras import check_calibrated, check_external, check_readers, evaluator_key, router_folder
from experiments.execution.systems import SystemEntry, check_names, system_contestants
from indexing.modes import MODES
from indexing.retriever import Batched
from strategies import StrategySpec, Variant, find_strategy, find_variant

_GOLD_NEEDED: Mapping[str, int] = {"gold": 1, "gold_minus_one": 2, "gold_plus_distractors": 1}
"""Kind of evidence -> gold documents that a question needs to be asked on it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A strategy under one retrieval mode, and the questions it is to be asked."""

    variant: Variant
    mode: str
    questions: tuple[Question, ...]

    @property
    def spec(self) -> StrategySpec:
        return self.variant.spec


@dataclass(frozen=True, slots=True)
class Entries:
    """A dataset and the strategies that compete on it, each under each of its modes, in the order of the config.

    `skipped`: strategies that need gold documents, which no question of the sample has. `systems`: those of the user's
    own, each with its questions; they compete behind the strategies.
    """

    dataset: Dataset
    competing: tuple[Entry, ...]
    skipped: tuple[str, ...] = ()
    systems: tuple[SystemEntry, ...] = ()

    @property
    def needs_index(self) -> bool:
        return any(entry.spec.evidence == "index" for entry in self.competing)

    @property
    def index_queries(self) -> frozenset[str]:
        """The texts of the questions that the index is asked with."""
        asking = (entry for entry in self.competing if entry.spec.evidence == "index")
        return frozenset(question.text for entry in asking for question in entry.questions)

    @property
    def needs_reranker(self) -> bool:
        return any(entry.mode in MODES and MODES[entry.mode].reranked for entry in self.competing)

    @property
    def needs_model(self) -> bool:
        return any(entry.spec.needs_model for entry in self.competing)

    @property
    def variants(self) -> tuple[Variant, ...]:
        """Each strategy under its settings, once."""
        distinct: list[Variant] = []
        distinct.extend(entry.variant for entry in self.competing if entry.variant not in distinct)
        return tuple(distinct)

    @property
    def tiers(self) -> dict[str, Tier | None]:
        """Strategy -> the highest tier that it can run at."""
        return {entry.spec.name: entry.spec.tier for entry in self.competing}


def read_entries(config: RunConfig) -> Entries:
    """Check every name of the config, load the dataset, draw the samples."""
    variants = [find_variant(entry, config.strategy_params) for entry in config.strategies]
    for name in config.strategy_params:
        find_strategy(name)  # settings under a name that nobody has would be passed over in silence
    for mode in config.modes:
        if mode not in MODES:
            raise UnknownNameError("retrieval mode", mode, MODES)
    check_names(config)
    check_external(config, variants)
    check_readers(config, variants)
    dataset = load_dataset(config.dataset)
    samples = {needs_model: _sample(config, dataset, needs_model=needs_model) for needs_model in (False, True)}
    entries = [
        Entry(variant, mode, _askable(variant.spec, samples[variant.spec.needs_model], dataset))
        for variant in variants
        for mode in _modes(config, variant.spec)
    ]
    systems = tuple(SystemEntry(name, one, samples[one.answers]) for name, one in config.systems.items())
    askable = tuple(entry for entry in entries if entry.questions)
    if not askable and not systems:
        raise ConfigError(
            f"{', '.join(config.strategies)} can be asked nothing in {config.dataset!r}: no question of the sample has "
            "gold documents; add a strategy that needs none"
        )
    skipped = dict.fromkeys(entry.spec.name for entry in entries if not entry.questions)
    return Entries(dataset, askable, tuple(skipped), systems)


def contestants(config: RunConfig, entries: Entries, equipment: Equipment | None) -> tuple[Contestant, ...]:
    """The entries with their full identity and all they need but the model (`with_model`).

    `equipment` is what those that retrieve run with (None: none does); they share its one retriever.

    Raises `ConfigError` for thresholds that were calibrated on another judge's scores.
    """
    gold = GoldDocuments.of(entries.dataset)
    strategies = tuple(_contestant(config, entries.dataset, entry, equipment, gold) for entry in entries.competing)
    return (*strategies, *system_contestants(config, entries.systems, entries.dataset))


def with_model(competing: Iterable[Contestant], model: ChatModel) -> tuple[Contestant, ...]:
    """The contestants, those that ask a model with this one."""
    return tuple(replace(one, model=model) if one.asks_model else one for one in competing)


def _contestant(
    config: RunConfig, dataset: Dataset, entry: Entry, equipment: Equipment | None, gold: GoldDocuments
) -> Contestant:
    settings = _settings(config, entry.mode, equipment.reranking if equipment else None)
    key = evaluator_key(entry.variant, config.rerank.model)
    evaluator = equipment.evaluators[key] if equipment and key else None
    folder = router_folder(entry.variant)
    router = equipment.routers[folder] if equipment and folder else None
    cell = _cell(config, entry, settings, equipment, evaluator, router)
    check_calibrated(cell)
    return Contestant(
        cell=cell,
        strategy=entry.variant.build(),
        evidence=_evidence(entry, dataset, gold, equipment),
        settings=settings,
        model=None,
        questions=entry.questions,
        external=equipment.external.source(entry.variant) if equipment else None,
        evaluator=evaluator,
        router=router,
        allowance=Allowance(config.allowance.calls, config.allowance.tokens),
        abstentions=config.abstentions,
    )


def _evidence(entry: Entry, dataset: Dataset, gold: GoldDocuments, equipment: Equipment | None) -> EvidenceSource:
    spec = entry.spec
    match spec.evidence:
        case "none":
            return NoEvidence()
        case "gold":
            return gold
        case "gold_minus_one":
            return gold.minus_one()
        case "gold_plus_distractors":
            return GoldAmongDistractors(dataset.documents, gold, entry.variant.params.model_dump()["distractors"])
        case "index":
            if equipment is None:
                raise StrategyError(f"{spec.name} retrieves and there is no index")
            # A model's calls spread questions out in time; without them thousands of queries come at once.
            return SharedIndex(equipment.retriever if spec.needs_model else Batched(equipment.retriever))


def _sample(config: RunConfig, dataset: Dataset, *, needs_model: bool) -> tuple[Question, ...]:
    """The questions of all cells that do (not) call a model; the smaller sample is drawn from the larger."""
    rule = config.sample
    if rule.ids is not None:
        return named(dataset.questions, rule.ids)
    askable = in_part(dataset.questions, rule.part)
    if not askable:
        raise ConfigError(f"no question of {config.dataset!r} is in the part {rule.part!r}: set sample.part to all")
    questions = sample(askable, rule.limit, balance=rule.balance, seed=config.seed)
    limit = rule.model_limit if needs_model else None
    return sample(questions, limit, balance=rule.balance, seed=config.seed)


def _askable(spec: StrategySpec, questions: Sequence[Question], dataset: Dataset) -> tuple[Question, ...]:
    needed = _GOLD_NEEDED.get(spec.evidence, 0)
    return tuple(one for one in questions if len(dataset.gold[one.question_id].supporting_ids) >= needed)


def _modes(config: RunConfig, spec: StrategySpec) -> tuple[str, ...]:
    if spec.evidence == "none":
        return (NO_RETRIEVAL_MODE,)
    return (GOLD_MODE,) if spec.evidence in _GOLD_NEEDED else config.modes


def _settings(config: RunConfig, mode: str, reranking: Reranking | None) -> RetrievalSettings:
    """What the retrieve node asks with; None for whatever the mode has no use for."""
    wanted = config.retrieval
    if mode not in MODES or mode == "dense":
        return RetrievalSettings(mode, wanted.k)
    return RetrievalSettings(
        mode,
        wanted.k,
        depth=wanted.depth,
        rrf_k=wanted.rrf_k if wanted.fusion == "rrf" else None,
        fusion=wanted.fusion,
        lane_weights=wanted.lane_weights,
        threshold=reranking.threshold if reranking and MODES[mode].reranked else None,
    )


def _cell(
    config: RunConfig,
    entry: Entry,
    settings: RetrievalSettings,
    equipment: Equipment | None,
    evaluator: Evaluator | None,
    router: Router | None,
) -> Cell:
    params: dict[str, Scalar] = dict(entry.variant.settings)
    if equipment:
        params |= equipment.external.identity(entry.variant)
    if evaluator:
        known = evaluator.identity
        params |= {"evaluator_model": known["model"], "evaluator_weights": known.get("weights_sha256")}
    if router:
        params["router_kind"] = router.identity["router"]
    if entry.spec.evidence == "index":
        reranking = equipment.reranking if equipment else None
        dense, sparse = settings.lane_weights or (None, None)
        params |= {
            "embedder": equipment.embedder if equipment else None,
            "k": settings.k,
            "depth": settings.depth,
            "fusion": settings.fusion,
            "rrf_k": settings.rrf_k,
            "dense_weight": dense,
            "sparse_weight": sparse,
            "threshold": settings.threshold,
            "reranker": reranking.model if reranking and MODES[entry.mode].reranked else None,
            "chunk_tokens": config.chunking.tokens,
            "chunk_overlap": config.chunking.overlap or None,
        }
    if entry.spec.needs_model:
        llm = config.llm
        params |= {"temperature": llm.temperature, "max_tokens": llm.max_tokens, "seed": llm.seed}
        params["base_url"] = llm.base_url
    said = {name: value for name, value in params.items() if value is not None}
    return Cell(entry.spec.name, entry.mode, model_identity(config.llm) if entry.spec.needs_model else None, said)
