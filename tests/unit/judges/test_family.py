from __future__ import annotations

import pytest

from arena.judges.labels import family_of, same_family


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("openai:gpt-4.1", "azure_openai:gpt-4o-mini"),
        ("openai:o3-mini", "openai:gpt-5"),
        ("openai:Qwen/Qwen2.5-1.5B-Instruct", "ollama:qwen3:8b"),
        ("ollama:llama3.1:70b", "groq:meta-llama/Llama-4-Scout"),
        ("anthropic:claude-sonnet-4-5", "bedrock:anthropic.claude-3-haiku"),
        ("google_genai:gemini-2.5-pro", "local:gemma-3-1b.gguf"),
        ("mistralai:mistral-large-latest", "ollama:mixtral"),
        ("local:smollm2-135m", "local:/models/SmolLM2-1.7B.gguf"),
        ("openai:my-own-model", "openai:my-own-model"),
        ("fake:", "fake:"),
    ],
)
def test_models_of_one_family(one: str, other: str) -> None:
    assert same_family(one, other)
    assert same_family(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("openai:gpt-4.1", "anthropic:claude-sonnet-4-5"),
        ("openai:Qwen2.5-7B", "openai:Llama-3.1-8B"),
        ("openai:my-model", "openai:my-other-model"),
        ("local:smollm2-135m", "openai:llama-server"),
    ],
)
def test_models_of_different_or_unknown_families(one: str, other: str) -> None:
    assert not same_family(one, other)


def test_a_provider_is_no_family() -> None:
    assert family_of("openai:whatever") is None
    assert family_of("openai:yi-34b") == "yi"
    assert family_of("openai:yielding") is None
