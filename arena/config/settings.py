"""The parts of a run's settings: models, index, retrieval, sample, judge, external source, budget and allowance.

All of them are frozen and refuse unknown keys. `budget` bounds what a run costs, `allowance` what one question may use.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_serializer, field_validator, model_validator

from arena.network import address_without_secret, key_variable
from arena.text import REASONING_MARKS
from arena.types import JudgeMetric

MOST_AT_ONCE = 4096
"""Questions, or requests, in flight: each takes memory, and no provider takes more."""


class Settings(BaseModel):
    """Base of all settings: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class LLMSettings(Settings):
    """One language model and how it is asked.

    `model` is `PROVIDER:NAME` as LangChain's `init_chat_model` names it, or `local:smollm2-135m`,
    `local:PATH.gguf`, `fake:`, `fake:SCRIPT`. With `base_url`, any OpenAI-compatible server is asked instead.
    """

    model_config = ConfigDict(hide_input_in_errors=True)

    model: str = "local:smollm2-135m"
    base_url: str | None = None
    api_key_variable: str | None = Field(
        default=None, description="Environment variable that holds the key; default: the provider's usual one."
    )
    temperature: float = Field(default=0.0, ge=0.0, le=2.0)
    top_p: float | None = Field(default=None, gt=0.0, le=1.0, description="None = the provider's own.")
    max_tokens: int = Field(
        default=256, ge=1, description="Upper bound of a reply in the model's tokens; reasoning counts."
    )
    context_tokens: int | None = Field(
        default=None,
        ge=64,
        description="The model's window, prompt and reply together; None = as the model or its server says.",
    )
    seed: int | None = Field(default=0, description="Of a prompt's first sample; the n-th after it gets seed + n.")
    timeout_seconds: float = Field(default=120.0, gt=0)
    max_attempts: int = Field(
        default=7,
        ge=1,
        description="Attempts per call, the first included; the back-offs between seven last half a minute.",
    )
    concurrency: int | None = Field(
        default=None,
        ge=1,
        le=MOST_AT_ONCE,
        description="Attempts in flight at once; default 8, and 1 for `local:` (see arena.llm.local).",
    )
    requests_per_minute: float | None = Field(default=None, gt=0, description="Evenly spaced; None = no limit.")
    tokens_per_minute: int | None = Field(default=None, ge=1, description="Input and output together; None = no limit.")
    breaker_failures: int = Field(
        default=8, ge=1, description="Calls failed in a row, without a reply in between, that end the run."
    )
    reasoning_marks: tuple[tuple[str, str], ...] = Field(
        default=REASONING_MARKS,
        description="What opens and closes reasoning in a reply, which is no part of the answer; beside <think>.",
    )
    cache: bool | None = Field(
        default=None, description="Keep paid replies and never pay for one twice; None = for all models but `fake:`."
    )

    @field_validator("reasoning_marks")
    @classmethod
    def _marks_are_marks(cls, value: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        for pair in value:
            if not all(mark.strip() for mark in pair) or pair[0] == pair[1]:
                raise ValueError(f"reasoning_marks {list(pair)!r}: write [OPENING, CLOSING], two marks that differ")
        return value

    @field_validator("base_url")
    @classmethod
    def _base_url_holds_no_secret(cls, value: str | None) -> str | None:
        """It is written into manifests and messages, so that what may be a key in it is refused, and not repeated."""
        return None if value is None else address_without_secret("base_url", value, "api_key_variable")

    @field_validator("api_key_variable")
    @classmethod
    def _names_a_key(cls, value: str | None) -> str | None:
        return None if value is None else key_variable("api_key_variable", value)


class EmbeddingConfig(Settings):
    """The model that turns text into vectors. None = what suits the model and this machine.

    `model`: `minilm` or `bge-m3`, a folder of sentence-transformers or transformers, or a name on the model hub. Known
    models (contriever, e5, bge-*-en) are used as their authors say, where a setting does not say otherwise.
    `multivectors` keeps a vector a token for late interaction. `devices` and `batch_size` change speed only.
    """

    model: str = "minilm"
    revision: str | None = None
    max_length: int | None = Field(default=None, ge=1, description="Tokens read of a text; the rest is cut off.")
    dtype: Literal["float32", "float16", "bfloat16"] | None = None
    batch_size: int | None = Field(default=None, ge=1)
    devices: tuple[str, ...] | None = Field(
        default=None,
        min_length=1,
        description="As torch names them: cpu, cuda:0, ...; a copy of the model on each. None = all GPUs, or the CPU.",
    )
    query_instruction: str | None = None
    passage_instruction: str | None = None
    multivectors: bool = False
    pooling: Literal["mean", "cls"] | None = Field(
        default=None, description="How token vectors become one; None = as the folder or the model's preset says."
    )
    normalize: bool | None = Field(default=None, description="Scale vectors to L2 = 1; None = yes, but for presets.")
    distance: Literal["cosine", "dot"] | None = Field(default=None, description="None = cosine, but for presets.")
    trust_remote_code: bool = Field(
        default=False, description="Let the model run code that lies beside its weights, or be pickled."
    )


class IndexConfig(Settings):
    """The engine that holds both lanes of every passage.

    `edge`: embedded Qdrant, files in the cache folder. `server`: a Qdrant at `url`, whose key comes from
    `api_key_variable`, or Qdrant's local mode at `path` (a folder, or `:memory:`). `search`: exact up to 200,000
    passages and HNSW above (`auto`), or always one of them.
    """

    model_config = ConfigDict(hide_input_in_errors=True)

    engine: Literal["edge", "server"] = "edge"
    url: str | None = None
    path: str | None = None
    api_key_variable: str = "QDRANT_API_KEY"
    search: Literal["auto", "exact", "hnsw"] = "auto"

    @field_validator("url")
    @classmethod
    def _url_holds_no_secret(cls, value: str | None) -> str | None:
        return None if value is None else address_without_secret("index.url", value, "index.api_key_variable")

    @field_validator("api_key_variable")
    @classmethod
    def _names_a_key(cls, value: str) -> str:
        return key_variable("index.api_key_variable", value)

    @model_validator(mode="after")
    def _place_of_a_server(self) -> IndexConfig:
        if self.engine != "server" and (self.url or self.path):
            raise ValueError(f"url and path are for engine 'server', not {self.engine!r}: leave them out")
        if self.url and self.path:
            raise ValueError(f"both url {self.url!r} and path {self.path!r} are set: an index is in one of them")
        return self


class ChunkingConfig(Settings):
    """How documents become passages: whole (`tokens` None), or pieces of `tokens` that share `overlap`."""

    tokens: int | None = Field(default=None, ge=1)
    overlap: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _advances(self) -> ChunkingConfig:
        if self.overlap and (self.tokens is None or self.overlap >= self.tokens):
            raise ValueError(f"overlap {self.overlap} needs tokens greater than itself, not {self.tokens}")
        return self


class CalibratedThreshold(Settings):
    """A threshold and the reranker whose scores it was calibrated on."""

    value: float = Field(allow_inf_nan=False)
    reranker: str


LATE_INTERACTION = "late_interaction"
"""The reranker that needs no model of its own, by the name that it has in the settings."""


class RerankConfig(Settings):
    """The second look of mode `hybrid_rerank`.

    `model`: `late_interaction`, `bge-reranker-v2-m3`, a folder, or a cross-encoder's name on the model hub.
    `threshold`: candidates scored below it are dropped; `default` is the reranker's own (0.15 for
    bge-reranker-v2-m3, none where none is known), a number is taken as it is, and a calibrated one,
    `{value: 0.2, reranker: NAME}`, is refused for another reranker than its own.
    """

    model: str = LATE_INTERACTION
    revision: str | None = None
    threshold: float | CalibratedThreshold | Literal["default"] = "default"
    max_length: int | None = Field(default=None, ge=1, description="Tokens read of query and passage together.")
    dtype: Literal["float32", "float16", "bfloat16"] | None = None
    batch_size: int | None = Field(
        default=None, ge=1, description="Pairs in one pass on one device, fewer where they are longer than 512 tokens."
    )
    devices: tuple[str, ...] | None = Field(default=None, min_length=1, description="As of the embedding model.")
    trust_remote_code: bool = Field(
        default=False, description="Let the model run code that lies beside its weights, or be pickled."
    )

    @field_validator("threshold", mode="plain")
    @classmethod
    def _threshold(cls, value: object) -> float | CalibratedThreshold | Literal["default"]:
        """One message for all that a threshold cannot be."""
        if value == "default":
            return "default"
        if isinstance(value, CalibratedThreshold):
            return value
        if isinstance(value, dict) and value.keys() == {"value", "reranker"} and isinstance(value["reranker"], str):
            return CalibratedThreshold(value=_finite(value["value"], value), reranker=value["reranker"])
        return _finite(value, value)

    @field_serializer("threshold")
    def _as_written(self, value: float | CalibratedThreshold | str) -> Any:
        return {"value": value.value, "reranker": value.reranker} if isinstance(value, CalibratedThreshold) else value


def _finite(number: object, given: object) -> float:
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        raise ValueError(f"{given!r} is no threshold: write default, a number, or {{value: NUMBER, reranker: NAME}}")
    return float(number)


class RetrievalConfig(Settings):
    """The one retrieve node. The same for every strategy of a run, so that only the strategy differs."""

    k: int = Field(default=5, ge=1, description="Passages a retrieval returns.")
    depth: int = Field(default=50, ge=1, description="Candidates per lane before fusion.")
    fusion: Literal["rrf", "dbsf"] = "rrf"
    rrf_k: int = Field(default=60, ge=1, description="Constant of reciprocal rank fusion (Cormack et al. 2009: 60).")
    lane_weights: tuple[float, float] | None = Field(
        default=None, description="Weights of the dense and the sparse lane in RRF; None = equal."
    )

    @model_validator(mode="after")
    def _weights_weigh(self) -> RetrievalConfig:
        if self.lane_weights is not None and self.fusion != "rrf":
            raise ValueError(f"lane_weights are for fusion 'rrf', not {self.fusion!r}: leave them out")
        if self.lane_weights is not None and not all(0 < weight < math.inf for weight in self.lane_weights):
            raise ValueError(f"lane_weights {list(self.lane_weights)} must both be above 0")
        return self

    @model_validator(mode="after")
    def _depth_covers_k(self) -> RetrievalConfig:
        if self.depth < self.k:
            raise ValueError(f"depth {self.depth} is smaller than k {self.k}: fusion could not fill k places")
        return self


class SampleConfig(Settings):
    """Which questions are asked.

    `limit` bounds every cell, `model_limit` the cells that call a language model (None = all questions).
    `balance`: `proportional` keeps the dataset's mix of kinds and hops, `even` gives each an equal share. `part`: every
    question belongs to `dev` or to `eval` by a hash of its id; what is tuned on one is measured on the other. `ids`:
    exactly these questions, and no drawing.
    """

    limit: int | None = Field(default=None, ge=1)
    model_limit: int | None = Field(default=None, ge=1)
    balance: Literal["proportional", "even"] = "proportional"
    part: Literal["all", "dev", "eval"] = "all"
    ids: tuple[str, ...] | None = Field(default=None, min_length=1, description="None = drawn.")

    @model_validator(mode="after")
    def _drawn_or_named(self) -> SampleConfig:
        if self.ids is not None:
            drawn = [name for name in ("limit", "model_limit") if getattr(self, name) is not None]
            if drawn or self.part != "all":
                raise ValueError(
                    f"ids name the questions, and {', '.join(drawn) or 'part'} would draw them: leave one of them out"
                )
            if len(set(self.ids)) < len(self.ids):
                raise ValueError(f"ids repeat {next(one for one in self.ids if self.ids.count(one) > 1)!r}")
        return self


class JudgeModel(LLMSettings):
    """The judge's language model; its replies list statements one by one and need more room than an answer."""

    model: str
    max_tokens: int = Field(default=1024, ge=1, description="Upper bound of a reply, reasoning included.")


class JudgeConfig(Settings):
    """RAGAS judges over the answers of a run.

    `repeats`: how often everything is judged; more than once tells the judge's own variance.
    """

    llm: JudgeModel
    metrics: tuple[JudgeMetric, ...] = Field(default=("answer_accuracy", "faithfulness"), min_length=1)
    repeats: int = Field(default=1, ge=1)
    health_seconds: float = Field(
        default=30.0,
        gt=0,
        description="Seconds that each reply to the made-up answer before a run may take, whatever its time-out.",
    )

    @field_validator("metrics")
    @classmethod
    def _once_each(cls, metrics: tuple[JudgeMetric, ...]) -> tuple[JudgeMetric, ...]:
        if len(set(metrics)) < len(metrics):
            raise ValueError(f"metrics {list(metrics)} list one more than once")
        return metrics


class ExternalConfig(Settings):
    """Where a strategy may search beside the index of the run's own dataset. None = there is no such place.

    `dataset`: any dataset; its corpus becomes a second index, made and asked like the first (a `jsonl:` folder
    needs no questions for that). `tool`: a search tool of
    LangChain, or anything with `ainvoke(query)`; what it finds on the live web may hold a benchmark's answers.
    """

    dataset: str | None = None
    tool: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$",
        description="`package.module:factory`; the factory is called without arguments and gives the tool.",
    )


Usd = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class PriceConfig(Settings):
    """The price of one model: per token, or per hour of the accelerator that it has to itself.

    Per token: US dollars per million tokens; `cached_input_usd_per_million` is for what the provider read from its own
    cache (None = the price of other input). Per hour: a call costs the seconds in which it was served, which is an
    upper bound where the server works on several calls at once.
    """

    input_usd_per_million: Usd | None = None
    output_usd_per_million: Usd | None = None
    cached_input_usd_per_million: Usd | None = None
    gpu_usd_per_hour: Usd | None = None

    @model_validator(mode="after")
    def _one_way_to_charge(self) -> PriceConfig:
        tokens = (self.input_usd_per_million, self.output_usd_per_million)
        if self.gpu_usd_per_hour is not None:
            if any(price is not None for price in (*tokens, self.cached_input_usd_per_million)):
                raise ValueError("a model is priced per token or by gpu_usd_per_hour, not by both: leave one out")
        elif None in tokens:
            raise ValueError(
                "a price needs both input_usd_per_million and output_usd_per_million, or gpu_usd_per_hour alone"
            )
        return self


class BudgetConfig(Settings):
    """What a run may spend in all, continued or not; replayed calls cost nothing.

    A run ends once a bound is reached, so it can be overrun by the calls that are then in flight.
    """

    max_usd: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    max_tokens: int | None = Field(default=None, ge=1, description="Input and output of all calls of the run.")


class AllowanceConfig(Settings):
    """What one question may use in one cell; a strategy that has used it up ends with what it has."""

    calls: int | None = Field(default=400, ge=1)
    tokens: int | None = Field(default=None, ge=1, description="Input and output of all its calls.")
