"""What identifies the model in a folder: hashes of its weights and of everything else that can change a vector."""

from __future__ import annotations

import hashlib
import pickle
from pathlib import Path

from arena.errors import ConfigError, WeightsError
from indexing.stamps import file_sha256

_SETTINGS = {".json", ".txt", ".model"}
_WEIGHTS = {".safetensors", ".bin", ".pt"}
_ROBERTA_FAMILY = {"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "longformer"}
_UNBOUNDED = 8192  # where neither the model nor the user says
_OTHER_FORMATS = {"onnx", "openvino", "imgs", "assets"}
FETCH = "`arena models fetch` brings the models known by name"


def folder_identity(folder: Path) -> dict[str, str | int]:
    """`weights_sha256` and `config_sha256` of the model in `folder`.

    A single file of weights has its own SHA-256; of several files, the hash is that of the sorted list of paths and
    hashes. Weights that exist in both formats count as safetensors, which is what is loaded. Raises `WeightsError`.
    """
    try:
        paths = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
        kept = [path for path in paths if not any(part.startswith(".") for part in path.parts)]
        files = sorted(path for path in kept if not _OTHER_FORMATS & set(path.parts))
        safe = {path.parent for path in files if path.suffix == ".safetensors"}
        weights = [p for p in files if p.suffix in _WEIGHTS and not (p.suffix == ".bin" and p.parent in safe)]
        if not weights:
            raise WeightsError(f"no model weights in {str(folder)!r}; {FETCH}")
        settings = [path for path in files if path.suffix in _SETTINGS]
        return {"weights_sha256": _digest(folder, weights), "config_sha256": _digest(folder, settings)}
    except OSError as error:
        raise WeightsError(f"cannot read the model in {str(folder)!r}: {error}; {FETCH}") from error


def _digest(folder: Path, paths: list[Path]) -> str:
    hashes = {path.as_posix(): file_sha256(folder, path.as_posix()) for path in paths}
    if len(hashes) == 1:
        return next(iter(hashes.values()))
    listing = "".join(f"{sha256}  {path}\n" for path, sha256 in hashes.items())
    return hashlib.sha256(listing.encode()).hexdigest()


def load_errors() -> tuple[type[Exception], ...]:
    """What loading a model raises when its files are missing, cut off or of another model."""
    from safetensors import SafetensorError

    return (OSError, ValueError, KeyError, RuntimeError, EOFError, pickle.UnpicklingError, SafetensorError)


def tokens_read(config: object, wanted: int | None, usual: int | None = None) -> int:
    """How many tokens of a text a transformer of this configuration is to read.

    As many as wanted, else as usual for the model, else as many as it can. Raises `ConfigError` on more than it can.
    """
    most = _positions(config)
    if wanted is not None and most is not None and wanted > most:
        raise ConfigError(f"embedding setting max_length {wanted!r} is more than the {most} tokens the model can read")
    return wanted or min(limit for limit in (usual, most, _UNBOUNDED) if limit is not None)


def _positions(config: object) -> int | None:
    """Tokens there are positions for; None = no bound. The RoBERTa family counts from one past the padding id."""
    positions = getattr(config, "max_position_embeddings", None)
    if not isinstance(positions, int):
        return None
    offset = (getattr(config, "pad_token_id", None) or 0) + 1
    return positions - offset if getattr(config, "model_type", "") in _ROBERTA_FAMILY else positions
