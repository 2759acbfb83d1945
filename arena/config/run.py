"""All settings of one `arena run`, and what of them identifies it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator

from arena.config.settings import (
    MOST_AT_ONCE,
    AllowanceConfig,
    BudgetConfig,
    ChunkingConfig,
    EmbeddingConfig,
    ExternalConfig,
    IndexConfig,
    JudgeConfig,
    LLMSettings,
    PriceConfig,
    RerankConfig,
    RetrievalConfig,
    SampleConfig,
    Settings,
)
from arena.config.systems import SystemConfig, check_system_name
from arena.identity import canonical_json, short_hash
from arena.text import REASONING_MARKS

_SPEED_AND_PLACE = frozenset(
    {"api_key_variable", "timeout_seconds", "max_attempts", "concurrency", "requests_per_minute", "tokens_per_minute"}
    | {"breaker_failures", "cache"}
)
"""Settings of the model that change how fast or where it is asked, and no result."""


class RunConfig(Settings):
    """One `arena run`. The defaults are the quickstart's dataset, contestants and model."""

    dataset: str = "world"
    strategies: tuple[str, ...] = ("retrieval_only", "vanilla", "closed_book", "oracle")
    strategy_params: Mapping[str, Mapping[str, Any]] = Field(
        default_factory=dict, description="Strategy -> its settings, for every entry of `strategies` of that name."
    )
    systems: Mapping[str, SystemConfig] = Field(
        default_factory=dict, description="Name -> a system of the user's own that competes with the strategies."
    )
    modes: tuple[str, ...] = ("dense", "hybrid")
    llm: LLMSettings = LLMSettings()
    judge: JudgeConfig | None = None
    embedding: EmbeddingConfig = EmbeddingConfig()
    chunking: ChunkingConfig = ChunkingConfig()
    index: IndexConfig = IndexConfig()
    retrieval: RetrievalConfig = RetrievalConfig()
    rerank: RerankConfig = RerankConfig()
    external: ExternalConfig = ExternalConfig()
    sample: SampleConfig = SampleConfig()
    allowance: AllowanceConfig = AllowanceConfig()
    budget: BudgetConfig = BudgetConfig()
    abstentions: tuple[str, ...] = Field(
        default=(), description='How an answer begins that declines to answer, beside "I don\'t know".'
    )
    prices: Mapping[str, PriceConfig] = Field(
        default_factory=dict, description="Model, as a cell names it (`openai:gpt-x`), -> its price."
    )
    seed: int = Field(default=0, ge=0, description="Of sampling and of the bootstrap.")
    runs_dir: Path = Path("runs")
    run_id: str | None = Field(
        default=None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$", description="Name of the run folder."
    )
    concurrency: int = Field(default=8, ge=1, le=MOST_AT_ONCE, description="Questions in flight at once.")
    question_timeout_seconds: float | None = Field(
        default=None, gt=0, description="A question that takes longer has failed; None = no bound."
    )
    health_check: bool = Field(default=True, description="Stop early where a cell fails its first questions.")
    latency_probe: int = Field(
        default=0,
        ge=0,
        description="Questions per cell asked again after the run, one at a time, for latency alone.",
    )
    max_failure_share: Annotated[float, Field(ge=0.0, le=1.0)] = 0.05
    mlflow: bool = True
    traces: int = Field(default=20, ge=0, description="Questions per cell that MLflow gets as traces, failures first.")

    @field_validator("abstentions")
    @classmethod
    def _abstentions_say_something(cls, phrases: tuple[str, ...]) -> tuple[str, ...]:
        for phrase in phrases:
            if not any(character.isalnum() for character in phrase):
                raise ValueError(f"{phrase!r} holds no word: write how an answer begins that declines to answer")
        return phrases

    @field_validator("prices")
    @classmethod
    def _prices_of_models(cls, prices: Mapping[str, PriceConfig]) -> Mapping[str, PriceConfig]:
        for model in prices:
            if model.find(":") < 1:
                raise ValueError(f"{model!r} names no model: write PROVIDER:NAME, as the leaderboard names it")
        return prices

    @field_validator("systems")
    @classmethod
    def _systems_have_names(cls, systems: Mapping[str, SystemConfig]) -> Mapping[str, SystemConfig]:
        return {check_system_name(name): system for name, system in systems.items()}

    @model_validator(mode="after")
    def _something_competes(self) -> RunConfig:
        for name in ("strategies", "modes"):
            values = getattr(self, name)
            if not values and not (name == "strategies" and self.systems):
                raise ValueError(f"{name} is empty: name at least one")
            repeated = sorted({value for value in values if values.count(value) > 1})
            if repeated:
                raise ValueError(f"{name} lists {', '.join(repeated)} more than once")
        return self

    def fingerprint_fields(self) -> dict[str, Any]:
        """All settings that can change a result, as plain JSON values.

        What systems, index and reranker came of their settings is in their own identities, so that a default and its
        spelt-out value are the same.
        """
        where_and_how_fast = {"runs_dir", "run_id", "concurrency", "question_timeout_seconds", "max_failure_share"}
        beside_the_answers = {"judge", "health_check", "latency_probe", "mlflow", "traces"}
        money = {"budget", "prices"}
        identified_elsewhere = {"embedding", "chunking", "index", "rerank", "systems"}
        left_out = where_and_how_fast | beside_the_answers | money | identified_elsewhere
        fields = self.model_dump(mode="json", exclude={**dict.fromkeys(left_out, True), "llm": set(_SPEED_AND_PLACE)})
        # Younger than the runs that have them as they are by default.
        if self.llm.reasoning_marks == REASONING_MARKS:
            del fields["llm"]["reasoning_marks"]
        if self.llm.context_tokens is None:
            del fields["llm"]["context_tokens"]
        if not self.abstentions:
            del fields["abstentions"]
        return fields


def fingerprint(prefix: str, fields: Mapping[str, Any]) -> str:
    """`PREFIX_` and 16 hex digits of the SHA-256 of the canonical JSON of `fields`."""
    return f"{prefix}_{short_hash(canonical_json(fields, compact=True))}"
