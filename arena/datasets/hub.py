"""Files of datasets on the Hugging Face hub: where they lie, and their download, which is pinned, resumed and checked.

Commits and hashes were published by several projects that use these files and agree with one another; this project had
no network to check them against the hub. A file that does not fit its hash is refused when it is fetched.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from arena.errors import DatasetError
from arena.files import file_sha256, read_yaml_file
from arena.network import check_network_environment

FROM_HUB = "hub"
"""In place of a path: the pinned file of the hub."""

PROBE_SECONDS = 5.0
"""How long the hub may take to answer at all. Its own client tries six times, which takes 23 s without a network."""


@dataclass(frozen=True, slots=True)
class HubFile:
    """One file of a dataset's repository. What pins it: `revision`, where that is a commit, and `sha256`, where known.

    `size_bytes` only spares the reading of a file that is too short or too long. `vouched`: who published these
    figures, or how far they were checked; shown when a file does not fit them.
    """

    repository: str
    path: str
    revision: str
    vouched: str
    sha256: str | None = None
    size_bytes: int | None = None

    @property
    def page(self) -> str:
        """Where a person finds the file."""
        return f"https://huggingface.co/datasets/{self.repository}/blob/{self.revision}/{self.path}"

    @property
    def note(self) -> str:
        """What was read, for the notes of a dataset."""
        checked = f"SHA-256 {self.sha256[:12]}... checked" if self.sha256 else "SHA-256 not known"
        return f"Read from {self.path} of {self.repository} at revision {self.revision} on the hub ({checked})."


def fetch(file: HubFile, root: Path, by_hand: str, *, endpoint: str | None = None) -> Path:
    """The file's path under `root`, downloaded first unless it is there whole; then no network is asked.

    The hub's client shows progress and keeps what arrived of a broken download. No token is sent. `endpoint`: None =
    the hub that `huggingface_hub` is set up for. `by_hand` ends every complaint: what to place where, and the
    command that works then.

    Raises:
        DatasetError: the hub cannot be reached or has no such file, or the file is not the pinned one.
    """
    folder = root / f"{file.repository.replace('/', '--')}@{file.revision}"
    target = folder / file.path
    if _is_whole(target, file):
        return target
    import huggingface_hub
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError
    from requests import RequestException

    trouble = f"cannot fetch {file.path!r} of the dataset {file.repository!r} from the hub"
    check_network_environment()
    if (silence := _unreachable(endpoint)) is not None:
        raise DatasetError(f"{trouble}: {silence}. {by_hand}")
    try:
        target.unlink(missing_ok=True)  # the client would take a file of that name for the right one
        huggingface_hub.hf_hub_download(
            file.repository,
            file.path,
            repo_type="dataset",
            revision=file.revision,
            local_dir=folder,
            endpoint=endpoint,
            token=False,
        )
    except (HfHubHTTPError, HFValidationError, RequestException, OSError, ValueError) as error:
        reason = _reason(error)
        raise DatasetError(f"{trouble}: {reason}; what arrived is kept, run again to go on. {by_hand}") from error
    if not _is_whole(target, file):
        found = f"{target.stat().st_size:,} bytes and SHA-256 {file_sha256(target)}"
        target.unlink()
        raise DatasetError(
            f"{file.path!r} of {file.repository!r} has {found}, but pinned is {_pinned(file)} ({file.vouched}): "
            f"refused. If you trust the hub's file, use it from a folder of yours. {by_hand}"
        )
    return target


def _unreachable(endpoint: str | None) -> str | None:
    """Why the hub gives no answer to one request; None when it gives any."""
    from huggingface_hub import constants, get_session
    from huggingface_hub.errors import OfflineModeIsEnabled
    from requests import RequestException

    url = endpoint or constants.ENDPOINT
    try:
        get_session().head(url, timeout=PROBE_SECONDS)
    except OfflineModeIsEnabled:
        return "HF_HUB_OFFLINE is set"
    except RequestException as error:
        return f"{url} does not answer ({type(error).__name__})"
    return None


def _is_whole(target: Path, file: HubFile) -> bool:
    """The hub's client gives a file its name only once it is complete."""
    if not target.is_file() or file.size_bytes not in (None, target.stat().st_size):
        return False
    return file.sha256 in (None, file_sha256(target))


def _pinned(file: HubFile) -> str:
    size = "any size" if file.size_bytes is None else f"{file.size_bytes:,} bytes"
    return f"{size} and SHA-256 {file.sha256}" if file.sha256 else size


def _reason(error: Exception) -> str:
    """The first line of what went wrong; the client's own words for "no answer" leave out why there was none."""
    from huggingface_hub.errors import LocalEntryNotFoundError

    cause = error.__cause__ if isinstance(error, LocalEntryNotFoundError) and error.__cause__ else error
    return str(cause).strip().partition("\n")[0].rstrip(".") or type(cause).__name__


@cache
def mirror_of(dataset: str) -> HubFile:
    """The pinned file of one of this package's datasets; hub.yaml holds their figures."""
    return HubFile(**read_yaml_file(Path(__file__).with_suffix(".yaml"), "pinned files of the hub")[dataset])
