"""Which providers can be asked, and how each of them wants the same settings.

The providers are LangChain's; their packages are installed by whoever needs them. What is not said here (a
model that refuses a temperature, ...) is for the provider to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from arena.config import LLMSettings
from arena.errors import ConfigError, UnknownNameError

LOCAL = "local"
FAKE = "fake"
COMPATIBLE = "openai"


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider of LangChain's `init_chat_model` and the names it has for our settings (None = has none).

    `no_retries` turns the package's own retries off. `endpoint` is where it is without a `base_url`; it is passed on
    even so, because the package would else take another from variables that no config shows. `window_field` sets how
    much the model reads (None = it cannot be set). `logprobs` and `schema`
    are for packages that do not build on LangChain's OpenAI model; see `Dialect`.
    """

    package: str
    keyed: bool = True
    limit_field: str = "max_tokens"
    seed_field: str | None = "seed"
    timeout_field: str | None = "timeout"
    window_field: str | None = None
    no_retries: Mapping[str, int] = field(default_factory=lambda: {"max_retries": 0})
    endpoint: str | None = None
    logprobs: bool = True
    schema: Literal["openai", "ollama"] | None = "openai"


PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider("langchain-anthropic", seed_field=None, logprobs=False, schema=None),
    "deepseek": Provider("langchain-deepseek"),
    "fireworks": Provider("langchain-fireworks", seed_field=None),
    # Google's package takes 0 for "the default", and 1 for one attempt.
    "google_genai": Provider(
        "langchain-google-genai",
        limit_field="max_output_tokens",
        no_retries={"max_retries": 1},
        logprobs=False,
        schema=None,
    ),
    "groq": Provider("langchain-groq", seed_field=None),
    "mistralai": Provider("langchain-mistralai", seed_field="random_seed", timeout_field=None, logprobs=False),
    "ollama": Provider(
        "langchain-ollama",
        keyed=False,
        limit_field="num_predict",
        window_field="num_ctx",  # it cuts a longer prompt off without a word
        timeout_field=None,
        no_retries={},
        endpoint="http://127.0.0.1:11434",
        logprobs=False,
        schema="ollama",
    ),
    "openai": Provider("langchain-openai", endpoint="https://api.openai.com/v1"),
    "openrouter": Provider("langchain-openrouter", timeout_field=None),
    "together": Provider("langchain-together"),
    "xai": Provider("langchain-xai"),
}

OTHER_PROVIDERS: Mapping[str, str] = {
    "anthropic_bedrock": "langchain-aws",
    "azure_ai": "langchain-azure-ai",
    "azure_openai": "langchain-openai",
    "baseten": "langchain-baseten",
    "bedrock": "langchain-aws",
    "bedrock_converse": "langchain-aws",
    "bedrock_mantle_anthropic": "langchain-aws",
    "bedrock_mantle_openai": "langchain-aws",
    "cohere": "langchain-cohere",
    "google_anthropic_vertex": "langchain-google-vertexai",
    "google_vertexai": "langchain-google-vertexai",
    "huggingface": "langchain-huggingface",
    "ibm": "langchain-ibm",
    "langsmith": "langchain-openai",
    "litellm": "langchain-litellm",
    "meta": "langchain-meta",
    "nvidia": "langchain-nvidia-ai-endpoints",
    "perplexity": "langchain-perplexity",
    "upstage": "langchain-upstage",
}
"""The rest of what `init_chat_model` knows, and the package of each. They find their keys and places themselves, and
are told of our settings what they have fields for."""


@dataclass(frozen=True, slots=True)
class ModelName:
    """`PROVIDER:NAME`, taken apart. A name on an OpenAI-compatible server has the provider `openai`."""

    provider: str
    name: str


def parse_model(settings: LLMSettings) -> ModelName:
    """What `settings.model` asks for.

    Raises:
        ConfigError: no provider or no name, or a `base_url` where there is nothing to call.
        UnknownNameError: a provider that is not known.
    """
    provider, colon, name = settings.model.partition(":")
    known = (LOCAL, FAKE, *PROVIDERS, *OTHER_PROVIDERS)
    if settings.base_url is not None and not (colon and provider in known):
        provider, name = COMPATIBLE, settings.model
    elif not colon:
        raise ConfigError(
            f"model {settings.model!r} names no provider: write PROVIDER:NAME, with one of {', '.join(sorted(known))}"
        )
    if provider not in known:
        raise UnknownNameError("model provider", provider, known)
    if not name and provider != FAKE:
        raise ConfigError(f"model {settings.model!r} names no model: write {provider}:NAME")
    if settings.base_url is not None and provider in (LOCAL, FAKE):
        raise ConfigError(f"model {settings.model!r} runs in this process: leave base_url {settings.base_url!r} out")
    return ModelName(provider, name)


def is_fake(model: str) -> bool:
    """Whether `model`, as a config or a cell names it, is the fake."""
    return model.startswith(f"{FAKE}:")


def keeps_replies(settings: LLMSettings) -> bool:
    """Whether replies go into the cache and come from it: as the settings say, else for every model but `fake:`."""
    return parse_model(settings).provider != FAKE if settings.cache is None else settings.cache


def model_identity(settings: LLMSettings) -> str:
    """`PROVIDER:NAME` for a cell. Of a file only its name is kept: where it lies changes no answer."""
    model = parse_model(settings)
    name = Path(model.name).name if model.provider in (LOCAL, FAKE) else model.name
    return f"{model.provider}:{name}"
