"""A Qdrant client, and what its failures mean to the one who configured it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from arena.errors import ConfigError
from arena.network import check_network_environment, redacted
from indexing.engines.settings import MEMORY, EngineSettings

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

TIMEOUT_SECONDS = 60
KEY_VARIABLE = "QDRANT_API_KEY"


@dataclass(frozen=True, slots=True)
class Connection:
    """An open client. `local`: the client's own local mode; `where`: the place in words, without the key.

    `shared`: other engines of this process use it too, and nobody closes it. `keyed`: an API key is sent.
    """

    client: QdrantClient
    local: bool
    where: str
    shared: bool = False
    keyed: bool = False

    @classmethod
    def open(cls, folder: Path, settings: EngineSettings) -> Connection:
        """The place that the settings name; local mode inside `folder` where they name none.

        Raises `ConfigError` when the place cannot be used; whether a server answers is seen at the first request.
        """
        from qdrant_client import QdrantClient

        if settings.url:
            check_network_environment()  # the client reads it, and calls all that is wrong there a wrong URL
            try:
                # Comparing versions would cost a request and answer a dead server with a warning.
                client = QdrantClient(
                    settings.url, api_key=settings.api_key, timeout=TIMEOUT_SECONDS, check_compatibility=False
                )
            except ValueError as error:
                raise ConfigError(f"no Qdrant URL: {settings.url!r} ({error}); write it as http://HOST:6333") from error
            return cls(client, False, f"at {settings.url!r}", keyed=bool(settings.api_key))
        if settings.path == MEMORY:
            return cls(_memory(), True, "in memory", shared=True)
        path = settings.path or str(folder / "qdrant")
        try:
            # Threads take turns in the retriever's pool; SQLite is only written while the index is built.
            client = QdrantClient(path=path, force_disable_check_same_thread=True)
        except (OSError, RuntimeError, ValueError) as error:
            raise ConfigError(
                f"cannot open Qdrant's files in {path!r}: {error}; only one process at a time can: end the other, "
                "or use a Qdrant server or engine 'edge'"
            ) from error
        return cls(client, True, f"in {path!r}")

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn what a server does wrong into what the user can do about it."""
        from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

        try:
            yield
        except UnexpectedResponse as error:
            if error.status_code in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
                raise ConfigError(self._refusal(error.status_code)) from error
            raise ConfigError(
                f"Qdrant {self.where} cannot do this: {redacted(' '.join(str(error).split()))}"
            ) from error
        except ResponseHandlingException as error:
            what = redacted(str(error.source) or type(error.source).__name__)
            raise ConfigError(f"no Qdrant answers {self.where}: {what}; start the server or correct the URL") from error

    def _refusal(self, status: int | None) -> str:
        variable = f"the environment variable of index.api_key_variable, ${KEY_VARIABLE} unless set"
        if self.keyed:
            return f"Qdrant {self.where} refuses the API key (HTTP {status}): check it, and its rights, in {variable}"
        return f"Qdrant {self.where} wants an API key and none was sent (HTTP {status}): put it into {variable}"

    def close(self) -> None:
        if not self.shared:
            self.client.close()


@cache
def _memory() -> QdrantClient:
    """The one in-memory Qdrant of this process: what one engine stores, another can open."""
    from qdrant_client import QdrantClient

    return QdrantClient(MEMORY)
