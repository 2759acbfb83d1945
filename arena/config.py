"""What a run is asked to do: frozen settings, their identity, and the only readings of the environment.

A config file is YAML with the same keys as `RunConfig`. Unknown keys are refused with the nearest known
one. `RunConfig.fingerprint_fields` lists what can change a result; where results are written, how many
questions run at once and what is printed cannot, and are left out.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from arena.errors import ConfigError

CACHE_VARIABLE = "ARENA_CACHE"
_KEY_VARIABLES = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "google_genai": "GOOGLE_API_KEY",
    "mistralai": "MISTRAL_API_KEY",
    "groq": "GROQ_API_KEY",
    "cohere": "COHERE_API_KEY",
    "together": "TOGETHER_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
}


class Settings(BaseModel):
    """Base of all settings: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class LLMSettings(Settings):
    """One language model and how it is asked.

    `model` is `PROVIDER:NAME` as LangChain's `init_chat_model` names it, or `local:smollm2-135m`,
    `local:PATH.gguf`, `fake:`, `fake:SCRIPT`. With `base_url`, any OpenAI-compatible server is asked instead.
    """

    model: str = "local:smollm2-135m"
    base_url: str | None = None
    api_key_variable: str | None = Field(
        default=None, description="Environment variable that holds the key; default: the provider's usual one."
    )
    temperature: float = Field(default=0.0, ge=0.0, le=2.0)
    max_tokens: int = Field(default=64, ge=1, description="Upper bound of a reply, in the model's tokens.")
    seed: int | None = 0
    timeout_seconds: float = Field(default=120.0, gt=0)
    max_attempts: int = Field(default=4, ge=1, description="Attempts per call, the first included.")
    concurrency: int | None = Field(
        default=None, ge=1, description="Calls in flight at once; default 8, and 1 for `local:` (see arena.llm.local)."
    )


class RetrievalConfig(Settings):
    """The one retrieve node. The same for every strategy of a run, so that only the strategy differs."""

    k: int = Field(default=5, ge=1, description="Passages a retrieval returns.")
    depth: int = Field(default=50, ge=1, description="Candidates per lane before fusion.")
    rrf_k: int = Field(default=60, ge=1, description="Constant of reciprocal rank fusion (Cormack et al. 2009: 60).")

    @model_validator(mode="after")
    def _depth_covers_k(self) -> RetrievalConfig:
        if self.depth < self.k:
            raise ValueError(f"depth {self.depth} is smaller than k {self.k}: fusion could not fill k places")
        return self


class SampleConfig(Settings):
    """Which questions are asked.

    `limit` bounds every cell, `model_limit` the cells that call a language model (None = all questions).
    `balance`: `proportional` keeps the dataset's mix of kinds and hops, `even` gives each an equal share.
    """

    limit: int | None = Field(default=None, ge=1)
    model_limit: int | None = Field(default=None, ge=1)
    balance: Literal["proportional", "even"] = "proportional"


class RunConfig(Settings):
    """One `arena run`. The defaults are the quickstart's dataset, contestants and model."""

    dataset: str = "world"
    strategies: tuple[str, ...] = ("retrieval_only", "vanilla", "closed_book", "oracle")
    modes: tuple[str, ...] = ("dense", "hybrid")
    embedder: str = Field(
        default="all-minilm-l6-v2", description="Named weights, or a folder in the sentence-transformers format."
    )
    llm: LLMSettings = LLMSettings()
    retrieval: RetrievalConfig = RetrievalConfig()
    sample: SampleConfig = SampleConfig()
    seed: int = 0
    runs_dir: Path = Path("runs")
    run_id: str | None = None
    concurrency: int = Field(default=8, ge=1, description="Questions in flight at once.")
    max_failure_share: Annotated[float, Field(ge=0.0, le=1.0)] = 0.05
    mlflow: bool = True

    @model_validator(mode="after")
    def _something_competes(self) -> RunConfig:
        for name in ("strategies", "modes"):
            values = getattr(self, name)
            if not values:
                raise ValueError(f"{name} is empty: name at least one")
            repeated = sorted({value for value in values if values.count(value) > 1})
            if repeated:
                raise ValueError(f"{name} lists {', '.join(repeated)} more than once")
        return self

    def fingerprint_fields(self) -> dict[str, Any]:
        """All settings that can change a result, as plain JSON values."""
        where_and_how_fast = {"runs_dir", "run_id", "concurrency", "max_failure_share", "mlflow"}
        fields = self.model_dump(mode="json", exclude=where_and_how_fast)
        for name in ("api_key_variable", "timeout_seconds", "max_attempts", "concurrency"):
            del fields["llm"][name]
        return fields


def fingerprint(prefix: str, fields: Mapping[str, Any]) -> str:
    """`PREFIX_` and 16 hex digits of the SHA-256 of the canonical JSON of `fields`."""
    canonical = json.dumps(fields, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return f"{prefix}_{hashlib.sha256(canonical.encode()).hexdigest()[:16]}"


def load_config(path: Path | None, overrides: Mapping[str, Any]) -> RunConfig:
    """The config file (None = the defaults), with `overrides` laid over it, nested keys merged.

    Raises:
        ConfigError: the file is unreadable or not YAML, or a setting is unknown or out of range; the
            message names the setting, the value and the nearest known key.
    """
    return validate_config(merge(_read_yaml(path), overrides), str(path) if path else "the command line")


def validate_config(values: Mapping[str, Any], where: str) -> RunConfig:
    """`values` as a RunConfig; `where` names their origin in messages."""
    try:
        return RunConfig.model_validate(values)
    except ValidationError as error:
        problems = "; ".join(_problems(error))
        raise ConfigError(f"{where}: {problems}") from None


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with the settings of `over` laid over it, key by key inside nested ones."""
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        merged[key] = merge(below, value) if isinstance(value, Mapping) and isinstance(below, Mapping) else value
    return merged


def api_key(settings: LLMSettings) -> tuple[str, str | None]:
    """The environment variable that should hold the key of `settings`, and its value (None = not set)."""
    provider = settings.model.partition(":")[0]
    variable = settings.api_key_variable or _KEY_VARIABLES.get(provider, f"{provider.upper()}_API_KEY")
    return variable, os.environ.get(variable) or None


def cache_dir() -> Path:
    """Where weights and indexes are kept: $ARENA_CACHE, else the user's cache folder."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "rag-strategy-arena"


def tracking_uri() -> str | None:
    """The MLflow server the user chose by MLflow's own variable (None = a SQLite file beside the runs)."""
    return os.environ.get("MLFLOW_TRACKING_URI") or None


def _read_yaml(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"no config file {str(path)!r}: check the path") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read config {str(path)!r}: {error}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"config {str(path)!r} is not YAML: {' '.join(str(error).split())}") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigError(f"config {str(path)!r} holds a {type(content).__name__}: it must be a mapping of settings")
    return content


def _problems(error: ValidationError) -> Iterator[str]:
    for item in error.errors():
        place = ".".join(str(part) for part in item["loc"])
        if item["type"] == "extra_forbidden":
            known = _known_keys(item["loc"][:-1])
            near = difflib.get_close_matches(str(item["loc"][-1]), known, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(known))}"
            yield f"unknown setting {place!r}: {hint}"
        elif item["type"] == "value_error":
            yield item["msg"].removeprefix("Value error, ") + (f" (in {place!r})" if place else "")
        else:
            yield f"{place!r} is {item['input']!r}: {item['msg'][0].lower()}{item['msg'][1:]}"


def _known_keys(location: tuple[int | str, ...]) -> list[str]:
    model: type[BaseModel] = RunConfig
    for part in location:
        field = model.model_fields.get(str(part))
        if field is None or not isinstance(field.annotation, type) or not issubclass(field.annotation, BaseModel):
            return []
        model = field.annotation
    return list(model.model_fields)
