"""How the project meets the network: its HTTP clients, the environment they obey, addresses, and what is shown of them.

Every HTTP client of ours is made here, and a library that makes its own is called only after
`check_network_environment`. Nothing that a library would report or trace leaves the machine (`keep_to_itself`).
"""

from __future__ import annotations

import importlib.util
import os
import re
import ssl
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from arena.errors import ConfigError

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")
_FileState = tuple[int, int, int] | None

HIDDEN = "[hidden]"

_CERTIFICATE_FILES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
_SOCKS_PACKAGES: Mapping[str, str] = {"socksio": "httpx[socks]", "socks": "requests[socks]"}
_LIKE_A_KEY = re.compile(r"[A-Z][A-Z0-9_]*(?:KEY|TOKEN)")

_SILENCED: Mapping[str, str] = {
    # LangSmith traces every prompt and reply of LangChain and LangGraph to its servers; each name alone turns it on.
    "LANGSMITH_TRACING": "false",
    "LANGSMITH_TRACING_V2": "false",
    "LANGCHAIN_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_RUNS_ENDPOINTS": "",
    "LANGCHAIN_RUNS_ENDPOINTS": "",
    "RAGAS_DO_NOT_TRACK": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
}
"""Variable -> the value that keeps a library's reports on this machine. It wins over what the shell says: questions and
passages are sent to nobody but the models and servers that a config names."""


def keep_to_itself(environment: MutableMapping[str, str] | None = None) -> None:
    """Turn off all that the libraries in use would report or trace of their own accord. Done when `arena` is imported.

    `environment` None is the process's own; the processes it starts inherit it.
    """
    place = os.environ if environment is None else environment
    place.update(_SILENCED)


def http_client(timeout_seconds: Any, **options: Any) -> httpx.Client:
    """A client that obeys the proxies and certificates of the environment. Redirects are followed only if asked for.

    Raises:
        ConfigError: the environment's settings are unusable; the message names the variable.
    """
    import httpx

    return _made(lambda: httpx.Client(timeout=timeout_seconds, verify=_trusted(), **options))


def async_http_client(timeout_seconds: Any, *, obeys_environment: bool = True, **options: Any) -> httpx.AsyncClient:
    """Like `http_client`. `obeys_environment` False is for servers of this process: proxies are for other machines."""
    import httpx

    if not obeys_environment:
        own: Any = {"trust_env": False, "verify": _trusted(obeys_environment=False)}
        return httpx.AsyncClient(timeout=timeout_seconds, **own, **options)
    return _made(lambda: httpx.AsyncClient(timeout=timeout_seconds, verify=_trusted(), **options))


def _trusted(*, obeys_environment: bool = True) -> ssl.SSLContext:
    """The certificates that clients trust, as httpx chooses them."""
    places = ("SSL_CERT_FILE", "SSL_CERT_DIR") if obeys_environment else ()
    named = tuple(os.environ.get(name, "") for name in places)
    return _read_certificates(named, _state(Path(named[0])) if named else None)


# Reading a bundle takes 40 ms, and a run makes a dozen clients.
@lru_cache(maxsize=8)
def _read_certificates(named: tuple[str, ...], _state: _FileState) -> ssl.SSLContext:
    import httpx

    return httpx.create_ssl_context(trust_env=bool(named))


@lru_cache(maxsize=8)
def _check_bundle(file: str, _state: _FileState) -> None:
    ssl.create_default_context(cafile=file)


def _state(file: Path) -> _FileState:
    """What changes when a file is written; None: it cannot be looked at."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _made(make: Callable[[], T]) -> T:
    import httpx

    check_network_environment()
    try:
        return make()
    except (ImportError, ValueError, OSError, httpx.InvalidURL) as error:  # what no check foresaw
        names = ", ".join(f"${name}" for name, _ in _set(*_CERTIFICATE_FILES, "SSL_CERT_DIR", *_PROXIES, "NO_PROXY"))
        raise ConfigError(
            f"no HTTP client can be made ({redacted(str(error))}): correct or unset {names or 'the proxy settings'}"
        ) from None


def check_network_environment() -> None:
    """See that certificates and proxies named by the environment can be used by every HTTP library.

    Raises:
        ConfigError: one cannot; the message names the variable and what to do.
    """
    for name, value in _set(*_CERTIFICATE_FILES):
        _check_certificates(name, value)
    for name, value in _set("SSL_CERT_DIR"):
        if not any(Path(place).is_dir() for place in value.split(os.pathsep)):
            raise ConfigError(f"${name} names {value!r}, where no folder is: correct or unset it")
    for name, value in _set(*_PROXIES):
        _check_proxy(name, value)
    for name, value in _set("NO_PROXY"):
        for host in (part.strip() for part in value.split(",")):
            if "[" in host or "]" in host:
                bare = host.replace("[", "").replace("]", "")
                raise ConfigError(f"${name} lists {host!r}, which is no host: write it without brackets, {bare!r}")


def _set(*names: str) -> Iterator[tuple[str, str]]:
    """The variables of these names that hold something, in both spellings that libraries read."""
    for name in names:
        for spelling in (name, name.lower()) if name.endswith("_PROXY") else (name,):
            value = os.environ.get(spelling, "").strip()
            if value:
                yield spelling, value


def _check_certificates(name: str, value: str) -> None:
    path = Path(value)
    if path.is_dir():
        return
    try:
        _check_bundle(value, _state(path))
    except OSError as error:  # ssl.SSLError is one
        what = error.strerror if path.exists() and not isinstance(error, ssl.SSLError) else None
        problem = what or ("holds no certificates" if path.exists() else "is not there")
        raise ConfigError(
            f"${name} names the certificates {value!r}, and that file {problem}: correct it, or unset ${name} for the "
            "usual ones"
        ) from None


def _check_proxy(name: str, value: str) -> None:
    shown = redacted(value)
    try:
        parts = urlsplit(value if "://" in value else f"http://{value}")
        sound = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        sound = False
    if not sound or "[" in value.rpartition("@")[2].rpartition("]")[2]:
        raise ConfigError(f"${name} is {shown!r}, which is no proxy: write http://HOST:PORT, or unset it")
    if parts.scheme in ("http", "https"):
        return
    if parts.scheme not in ("socks5", "socks5h"):
        raise ConfigError(
            f"${name} is {shown!r}, a proxy of a kind that is not known here: write http://HOST:PORT or "
            "socks5h://HOST:PORT, or unset it"
        )
    missing = [project for module, project in _SOCKS_PACKAGES.items() if importlib.util.find_spec(module) is None]
    if missing:
        raise ConfigError(
            f"${name} is {shown!r}, and a SOCKS proxy needs packages that are missing: pip install "
            f"{' '.join(repr(one) for one in missing)}, or unset ${name} or set it to an HTTP proxy"
        )


def address_without_secret(name: str, value: str, instead: str) -> str:
    """`value` of the setting `name`, which is written into manifests, pages and messages, if it can hold no key.

    Raises:
        ValueError: it holds user information, a query, a fragment or what looks like a key in its path, or is no
            address. The message repeats only the host, and says to use `instead`, the setting that names an environment
            variable.
    """
    rest = value.partition("://")[2] or value
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    host = authority.rpartition("@")[2]
    if "@" in authority:
        raise ValueError(
            f"{name} of host {host!r} holds a user name or password: put the key into an environment variable and its "
            f"name into {instead}"
        )
    if "?" in value or "#" in value:
        raise ValueError(
            f"{name} of host {host!r} goes on after a '?' or '#': leave that out, and put a key into an environment "
            f"variable and its name into {instead}"
        )
    path = rest.removeprefix(authority)
    if redacted(path) != path or any(map(_looks_random, path.split("/"))):
        raise ValueError(
            f"{name} of host {host!r} has in its path what looks like a key, and would be kept in the files of every "
            f"run: put the key into an environment variable and its name into {instead}"
        )
    try:
        _ = urlsplit(value).port
    except ValueError:
        raise ValueError(f"{name} is no address: {value!r}; write http://HOST:PORT") from None
    return value


def _looks_random(segment: str) -> bool:
    """Whether a part of a path is a long run of capitals, small letters and digits; ids of accounts (hex) are not."""
    return any(
        len(run) >= 24 and all(re.search(kind, run) for kind in ("[A-Z]", "[a-z]", "[0-9]"))
        for run in re.split("[^A-Za-z0-9]", segment)
    )


def key_variable(name: str, value: str) -> str:
    """`value` of the setting `name`, if it is the name of a variable that keys are kept in.

    A config may come from someone else: it must not name any variable at all, to have it sent to a server. And it may
    hold the key itself by mistake, so that the value is not repeated.

    Raises:
        ValueError: it is no such name.
    """
    if _LIKE_A_KEY.fullmatch(value) is None:
        raise ValueError(
            f"{name} is to hold the name of an environment variable, in capitals and ending in KEY or TOKEN, as in "
            "MY_SERVER_API_KEY; what it holds is not repeated here, for it may be the key itself: if so, put that into "
            "such a variable"
        )
    return value


def is_loopback(host: str | None) -> bool:
    """Whether `host` is this machine by its very name."""
    if host is None or host.lower() == "localhost":
        return host is not None
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


# Every pattern is anchored at something rare and bounded in what it looks at, so that long texts take linear time.
_CUT_OUT: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(://)[^\s/?#@'\"<>]{1,500}@"), rf"\1{HIDDEN}@"),
    (re.compile(r"(://[^\s?#'\"<>]{0,500})\?[^\s'\"<>)\]]+"), rf"\1?{HIDDEN}"),
    (re.compile(r"\?[\w.%\[\]-]{1,60}=[^\s'\"<>)]+"), f"?{HIDDEN}"),
    (
        re.compile(
            r"((?:proxy-)?authorization['\"]?\s{0,4}[:=,]\s{0,4}(?:b?['\"])?(?:(?:bearer|basic|token|apikey)\s{1,4})?)"
            r"(?!\[hidden)[^\s'\",;)}\]]+",
            re.I,
        ),
        rf"\1{HIDDEN}",
    ),
    (re.compile(r"\b(bearer|basic)\s{1,4}[\w.~+/=-]{8,}", re.I), rf"\1 {HIDDEN}"),
    (
        re.compile(
            r"((?<![a-z])(?:x[-_])?(?:(?:api|access|secret|private|subscription)[-_ ]?key"
            r"|(?:access|auth|refresh|id)[-_]token"
            r"|client[-_]secret|password|passwd|secret)(?:-id)?['\"]?\s{0,4}[:=]\s{0,4}(?:b?['\"])?)"
            r"(?!\[hidden)[^\s'\"&,;)}\]]+",
            re.I,
        ),
        rf"\1{HIDDEN}",
    ),
    (re.compile(r"\b((?:key|token|sig|signature)=)[^\s'\"&,;)}\]]+", re.I), rf"\1{HIDDEN}"),
    (re.compile(r"\b(?:sk|pk|tvly|gsk|xai|pplx|hf|ghp|glpat|lsv2|AIza)[-_]?(?=[\w-]{0,60}\d)[\w-]{20,}"), HIDDEN),
)


def redacted(text: str, secrets: tuple[str, ...] = ()) -> str:
    """`text` of a foreign exception or server, fit to be kept and shown.

    Replaced are `secrets`, the values of environment variables that hold keys by their name, and whatever has the
    form of a credential: user information and queries of addresses, `Authorization`, `api_key=...`.
    """
    for secret in sorted({*secrets, *_keys_of_environment()}, key=len, reverse=True):
        if secret:
            text = text.replace(secret, HIDDEN)
    for pattern, shown in _CUT_OUT:
        text = pattern.sub(shown, text)
    return text


def _keys_of_environment() -> Iterator[str]:
    yield from (value for name, value in os.environ.items() if len(value) >= 8 and holds_key(name))


def holds_key(variable: str) -> bool:
    """Whether an environment variable holds a key, by its name."""
    return bool(_LIKE_A_KEY.fullmatch(variable)) or variable.endswith(("_SECRET", "_PASSWORD"))
