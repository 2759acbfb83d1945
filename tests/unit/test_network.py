from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from arena import network
from arena.config import LLMSettings, api_key, qdrant_key, validate_config
from arena.config.settings import IndexConfig
from arena.datasets.hub import HubFile, fetch
from arena.errors import ConfigError, StrategyError, TrackingError
from arena.llm.remote import model_http_client
from arena.network import address_without_secret, check_network_environment, http_client, redacted
from arena.tracking.database import check_store
from arena.tracking.server import opened
from arena.types import RetrievalRequest
from experiments.execution.evidence import LiveSearch
from indexing.engines.ranking import EngineSettings
from indexing.engines.server import Connection
from indexing.hub import fetch_repository
from indexing.hub import http_client as download_client

CANARY = "canary4711"
NOT_THERE = "/nowhere/certificates.pem"
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES, "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        for spelling in (name, name.lower()):
            monkeypatch.delenv(spelling, raising=False)


def opened_tracking() -> None:
    with opened(Path.cwd(), "http://127.0.0.1:9"):
        raise AssertionError("nothing is to be opened")


CLIENTS: dict[str, Callable[[], object]] = {
    "our own": lambda: http_client(5),
    "model": lambda: model_http_client(5),
    "download": download_client,
    "weights of the hub": lambda: fetch_repository("a/b", None, Path.cwd() / "none"),
    "data of the hub": lambda: fetch(HubFile("a/b", "c", "d", "e"), Path.cwd() / "none", ""),
    "qdrant": lambda: Connection.open(Path.cwd(), EngineSettings(kind="server", url="http://127.0.0.1:9")),
    "mlflow, before a run": lambda: check_store(Path.cwd(), "http://127.0.0.1:9"),
    "mlflow, after it": opened_tracking,
}


@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_names_the_variable_that_is_wrong(
    client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", NOT_THERE)
    with pytest.raises(
        (ConfigError, TrackingError), match=r"\$SSL_CERT_FILE names .* is not there: correct it, or unset"
    ):
        CLIENTS[client]()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("REQUESTS_CA_BUNDLE", NOT_THERE, "$REQUESTS_CA_BUNDLE names the certificates"),
        ("CURL_CA_BUNDLE", NOT_THERE, "$CURL_CA_BUNDLE names the certificates"),
        ("SSL_CERT_FILE", __file__, "holds no certificates"),
        ("SSL_CERT_DIR", "/nowhere", "where no folder is"),
        ("all_proxy", "socks://h:1", "of a kind that is not known here: write http://HOST:PORT or socks5h://HOST:PORT"),
        ("HTTPS_PROXY", "http://h:port", "is no proxy: write http://HOST:PORT"),
        ("HTTPS_PROXY", "http://h:99999", "is no proxy"),
        ("HTTP_PROXY", "http://", "is no proxy"),
        ("http_proxy", "http://[::1", "is no proxy"),
        ("NO_PROXY", "localhost,[::1]", "$NO_PROXY lists '[::1]', which is no host: write it without brackets, '::1'"),
        ("no_proxy", "[::1]:80", "$no_proxy lists"),
    ],
)
def test_a_setting_of_the_network_that_cannot_be_obeyed_is_named(
    name: str, value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError) as caught:
        http_client(5)
    assert message in str(caught.value)
    assert f"${name}" in str(caught.value)


def test_a_socks_proxy_asks_for_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", f"socks5://me:{CANARY}@h:1080")
    monkeypatch.setattr(network, "_SOCKS_PACKAGES", {"no_such_package_here": "httpx[socks]"})
    with pytest.raises(
        ConfigError, match=r"\$ALL_PROXY is .*pip install 'httpx\[socks\]', or unset \$ALL_PROXY"
    ) as caught:
        check_network_environment()
    assert CANARY not in str(caught.value)


def test_what_no_check_foresaw_names_the_variables_that_are_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "a:b:c")
    with pytest.raises(ConfigError, match=r"no HTTP client can be made .*correct or unset \$NO_PROXY"):
        http_client(5)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HTTPS_PROXY", "http://me:pw@h:3128"),
        ("HTTP_PROXY", "h:3128"),
        ("HTTP_PROXY", "http://[::1]:3128"),
        ("NO_PROXY", "localhost, 127.0.0.1 ,::1,.internal"),
        ("NO_PROXY", "*"),
        ("SSL_CERT_FILE", ""),
    ],
)
def test_a_sound_environment_is_obeyed(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    http_client(5).close()


@pytest.mark.parametrize(
    "address",
    [
        f"http://{CANARY}@h:6333",
        f"http://me:{CANARY}@h",
        f"me:{CANARY}@h:6333",
        f"https://h/?api-key={CANARY}",
        f"h#{CANARY}",
        f"https://h/sk-0123456789abcdef{CANARY}/v1",
        f"https://h:6333/gateway/aB3dE5gH7jK9mN1pQ3sT5{CANARY}/v1",
    ],
)
def test_no_address_of_a_config_holds_a_credential(address: str) -> None:
    for values in ({"index": {"engine": "server", "url": address}}, {"llm": {"base_url": address}}):
        with pytest.raises(ConfigError, match=r"of host 'h(:6333)?' .*api_key_variable") as caught:
            validate_config(values, "study.yaml")
        assert CANARY not in str(caught.value)
    with pytest.raises(ConfigError) as direct:
        EngineSettings(kind="server", url=address)
    assert CANARY not in str(direct.value)
    with pytest.raises(ValueError, match="of host"):
        address_without_secret("url", address, "elsewhere")


def test_the_value_of_a_variable_of_keys_is_refused_in_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_TOKEN", CANARY)
    with pytest.raises(ValueError, match="looks like a key"):
        address_without_secret("base_url", f"https://h/{CANARY}/v1", "api_key_variable")


@pytest.mark.parametrize(
    "path",
    [
        "v1",
        "v1/0123456789abcdef0123456789abcdef/my-gateway/openai",
        "openai/deployments/GPT-4o-mini-2024-07-18-Eu-West",
        "api/2024/3f2504e0-4f89-11d3-9a0c-0305e82c3301/v1/",
    ],
)
def test_ids_and_names_in_a_path_are_no_keys(path: str) -> None:
    assert address_without_secret("base_url", f"https://h/{path}", "api_key_variable") == f"https://h/{path}"


@pytest.mark.parametrize("name", ["sk-canary4711", "PATH", "HOME", "my_key", "AWS_SECRET", "A KEY", ""])
@pytest.mark.parametrize("part", ["llm", "index"])
def test_only_a_variable_of_keys_can_be_named_and_a_key_typed_there_is_not_repeated(part: str, name: str) -> None:
    with pytest.raises(ConfigError, match="api_key_variable is to hold the name of an environment variable") as caught:
        validate_config({part: {"api_key_variable": name}}, "study.yaml")
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("host", ["evil.example", "openai.com.evil.example", "notopenai.com"])
def test_the_key_of_a_known_provider_goes_to_no_other_server(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    chosen = LLMSettings(model="m", base_url=f"http://{host}/v1", api_key_variable="OPENAI_API_KEY")
    with pytest.raises(
        ConfigError, match=r"\$OPENAI_API_KEY is a key of openai\.com, and base_url .* is another server"
    ):
        api_key(chosen)
    with pytest.raises(ConfigError, match=r"index\.url .* is another server"):
        qdrant_key(IndexConfig(engine="server", url=f"http://{host}:6333", api_key_variable="OPENAI_API_KEY"))


@pytest.mark.parametrize("host", ["api.openai.com", "EU.API.OPENAI.COM", "127.0.0.1:4000", "localhost", "[::1]:4000"])
def test_a_provider_and_this_machine_may_have_its_key(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    chosen = LLMSettings(model="m", base_url=f"http://{host}/v1", api_key_variable="OPENAI_API_KEY")
    assert api_key(chosen) == ("OPENAI_API_KEY", CANARY)


@pytest.mark.parametrize(
    "text",
    [
        f"cannot open http://me:{CANARY}@h/x",
        f"GET https://h/search?q=1&api_key={CANARY} failed",
        f"GET https://h/search?{CANARY} failed",
        f"Max retries exceeded with url: /search?key={CANARY}&q=x (Caused by",
        f"headers: {{'Authorization': 'Bearer {CANARY}', 'X-Api-Key': '{CANARY}'}}",
        f"Authorization: Basic {CANARY}",
        f"(b'authorization', b'Token {CANARY}')",
        f'tool = Search(api_key="{CANARY}")',
        f"password={CANARY} client_secret: {CANARY}",
        f"postgresql://u:{CANARY}@db:5432/mlflow",
        f"Incorrect API key provided: sk-{CANARY}abcdefgh012345",
        f"the value of $MY_KEY, {CANARY}, is wrong",
    ],
)
def test_no_credential_is_left_in_a_foreign_text(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "$MY_KEY" in text:
        monkeypatch.setenv("MY_KEY", CANARY)
    shown = redacted(text)
    assert CANARY not in shown
    assert "[hidden]" in shown


@pytest.mark.parametrize(
    "text",
    [
        "KeyError: 'title'",
        "unexpected token: <",
        "max_tokens: 256, key: value",
        "no route to http://127.0.0.1:8000/v1/models: refused",
        "is it true? yes = no",
        "the author is authorised",
    ],
)
def test_what_is_no_credential_stays(text: str) -> None:
    assert redacted(text) == text


def test_a_key_of_a_search_tool_is_in_no_failure() -> None:
    class Tool:
        async def ainvoke(self, query: str) -> object:
            raise RuntimeError(f"401 for https://h/search?key={CANARY}&q={query}")

    with pytest.raises(StrategyError) as caught:
        anyio.run(LiveSearch(Tool(), "tool").for_question("q1").retrieve, RetrievalRequest("why", "live", 3))
    assert CANARY not in str(caught.value)
    assert "401 for https://h/search?[hidden]" in str(caught.value)


def test_importing_any_package_keeps_every_library_to_itself() -> None:
    asked = {"LANGSMITH_TRACING": "true", "LANGCHAIN_TRACING_V2": "true", "LANGSMITH_TRACING_V2": "true"}
    code = (
        "import sys, importlib; importlib.import_module(sys.argv[1]); import os\n"
        "from langsmith.utils import tracing_is_enabled\n"
        "from huggingface_hub.constants import HF_HUB_DISABLE_TELEMETRY as off\n"
        "print(tracing_is_enabled(), off, os.environ['RAGAS_DO_NOT_TRACK'], os.environ['MLFLOW_DISABLE_TELEMETRY'])"
    )
    for package in ("arena.types", "strategies.vanilla", "indexing.hub", "experiments.cli.main"):
        done = subprocess.run(
            [sys.executable, "-c", code, package], env=os.environ | asked, capture_output=True, text=True, check=False
        )
        assert done.stdout.split() == ["False", "True", "true", "true"], (package, done.stderr)
