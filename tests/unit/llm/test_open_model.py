from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from arena.config import LLMSettings
from arena.errors import ConfigError, ModelSetupError, UnknownNameError, UserError
from arena.llm.opening import model_file
from arena.llm.providers import known_providers, model_identity, other_providers, parse_model
from arena.llm.remote import remote_access
from tests.unit.llm.asking import ask


def problem(settings: LLMSettings) -> UserError:
    with pytest.raises(UserError) as caught:
        ask(settings)
    return caught.value


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize(
    ("model", "base_url", "identity"),
    [
        ("local:smollm2-135m", None, "local:smollm2-135m"),
        ("local:/some/where/m.gguf", None, "local:m.gguf"),
        ("fake:", None, "fake:"),
        ("fake:some/script.yaml", None, "fake:script.yaml"),
        ("openai:gpt-5", None, "openai:gpt-5"),
        ("anthropic:claude", None, "anthropic:claude"),
        ("openai:a/b:7b", "http://h/v1", "openai:a/b:7b"),
        ("qwen2.5:7b", "http://h/v1", "openai:qwen2.5:7b"),
        ("served", "http://h/v1", "openai:served"),
        ("ollama:qwen2.5:7b", "http://h", "ollama:qwen2.5:7b"),
    ],
)
def test_identity(model: str, base_url: str | None, identity: str) -> None:
    assert model_identity(LLMSettings(model=model, base_url=base_url)) == identity


@pytest.mark.parametrize(
    ("model", "base_url", "told"),
    [
        ("smollm2-135m", None, "names no provider"),
        ("openai:", None, "names no model"),
        ("local:", None, "names no model"),
        ("local:x.gguf", "http://h/v1", "leave base_url 'http://h/v1' out"),
        ("fake:", "http://h/v1", "leave base_url"),
    ],
)
def test_a_name_that_makes_no_sense_is_refused(model: str, base_url: str | None, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        parse_model(LLMSettings(model=model, base_url=base_url))


def test_an_unknown_provider_is_met_with_the_nearest() -> None:
    error = problem(LLMSettings(model="antropic:claude"))
    assert isinstance(error, UnknownNameError)
    assert "did you mean 'anthropic'?" in str(error)


def test_a_missing_package_is_named() -> None:
    # Some provider of the table is not installed with the project; which one does not matter.
    missing = next(
        name
        for name, known in known_providers().items()
        if importlib.util.find_spec(known.package.replace("-", "_")) is None
    )
    error = problem(LLMSettings(model=f"{missing}:model"))
    assert isinstance(error, ModelSetupError)
    assert f"pip install {known_providers()[missing].package}" in str(error)


@pytest.mark.parametrize("base_url", [None, "http://127.0.0.1:1/v1"])
def test_a_missing_key_names_its_variable(base_url: str | None) -> None:
    settings = LLMSettings(model="openai:gpt-5", base_url=base_url, api_key_variable="A_NEVER_SET_KEY")
    error = problem(settings)
    assert isinstance(error, ModelSetupError)
    assert "A_NEVER_SET_KEY" in str(error)


def test_the_usual_variable_is_named() -> None:
    assert "OPENAI_API_KEY" in str(problem(LLMSettings(model="openai:gpt-5")))


@pytest.mark.parametrize("key", ["sk-canary\n", "sk-canary and more", "sk-canary\u00e9"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_repeated(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    error = problem(LLMSettings(model="openai:gpt-5"))
    assert isinstance(error, ModelSetupError)
    assert "$OPENAI_API_KEY" in str(error)
    assert "canary" not in str(error)


def test_a_hosted_model_is_asked_where_and_as_often_as_the_settings_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere.invalid/v1")
    access = remote_access(LLMSettings(model="openai:gpt-5", timeout_seconds=3, max_tokens=5))
    values = access.chat.model_dump()
    assert access.endpoint == values["openai_api_base"] == "https://api.openai.com/v1"
    assert (values["max_retries"], values["request_timeout"], values["max_tokens"]) == (0, 3, 5)
    assert "canary" not in repr(access)


def test_what_a_package_takes_off_a_model_of_its_own_accord_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    assert remote_access(LLMSettings(model="openai:gpt-5", top_p=0.5)).dropped == ("temperature",)
    assert remote_access(LLMSettings(model="openai:gpt-4o", top_p=0.5)).dropped == ()


def test_every_provider_of_langchain_is_known() -> None:
    from langchain.chat_models.base import _BUILTIN_PROVIDERS

    packages = {name: module.partition(".")[0] for name, (module, _, _) in _BUILTIN_PROVIDERS.items()}
    known = {**other_providers(), **{name: provider.package for name, provider in known_providers().items()}}
    assert {name: package.replace("-", "_") for name, package in known.items()} == packages


@pytest.mark.parametrize("provider", ["cohere", "bedrock_converse", "nvidia"])
def test_a_missing_package_of_another_provider_is_named(provider: str) -> None:
    error = problem(LLMSettings(model=f"{provider}:model"))
    assert isinstance(error, ModelSetupError)
    assert f"pip install {other_providers()[provider]}" in str(error)


def test_another_provider_is_told_what_it_has_fields_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "sk-canary")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "http://azure.invalid")
    monkeypatch.setenv("OPENAI_API_VERSION", "1")
    access = remote_access(LLMSettings(model="azure_openai:gpt", timeout_seconds=3, max_tokens=5, seed=7, top_p=0.5))
    values = access.chat.model_dump()
    assert (values["max_retries"], values["request_timeout"], values["max_tokens"]) == (0, 3, 5)
    assert (values["temperature"], values["top_p"], values["seed"]) == (0.0, 0.5, 7)
    assert (access.dialect.other_limit, access.dialect.schema, access.completions) == ("max_tokens", "extra_body", None)


def test_the_key_another_provider_finds_does_not_go_to_another_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("LANGSMITH_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(variable, "sk-canary")
    access = remote_access(LLMSettings(model="langsmith:gpt", base_url="http://127.0.0.1:1/v1"))
    values = access.chat.model_dump()
    assert access.endpoint == values["openai_api_base"] == "http://127.0.0.1:1/v1"
    assert values["openai_api_key"].get_secret_value() == "no-key"
    assert access.secrets == ()


def test_an_address_that_a_package_does_not_take_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_VERSION", "1")
    with pytest.raises(ModelSetupError, match=r"'azure_openai:gpt' cannot be opened.*azure_endpoint"):
        remote_access(LLMSettings(model="azure_openai:gpt", base_url="http://127.0.0.1:1/v1"))


def test_an_unreachable_server_is_named() -> None:
    url = f"http://127.0.0.1:{closed_port()}/v1"
    error = problem(LLMSettings(model="served", base_url=url))
    assert isinstance(error, ModelSetupError)
    assert f"no model server answers at {url!r}" in str(error)


@pytest.mark.parametrize("base_url", ["localhost:8000", "ftp://host/v1", "http://", ""])
def test_an_address_that_is_none_is_refused(base_url: str) -> None:
    error = problem(LLMSettings(model="served", base_url=base_url))
    assert isinstance(error, ConfigError)
    assert repr(base_url) in str(error)


@pytest.mark.parametrize(
    ("model", "file"),
    [("local:named", "named.bin"), ("fake:script.json", "script.json"), ("fake:", None), ("openai:gpt-5", None)],
)
def test_the_file_behind_a_model(model: str, file: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "named.bin").write_bytes(b"GGUF")
    (tmp_path / "script.json").write_text("{}", encoding="utf-8")
    found = model_file(LLMSettings(model=model), lambda name: Path(f"{name}.bin"))
    assert found == (None if file is None else Path(file))


def test_importing_the_gate_loads_no_provider() -> None:
    heavy = {"langchain_core", "langchain", "langchain_openai", "openai", "xllamacpp", "httpx"}
    program = f"import sys, arena.llm; print(*sorted({heavy!r} & set(sys.modules)))"
    root = Path(__file__).parents[3]
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=root)
    assert loaded.stdout.split() == []
