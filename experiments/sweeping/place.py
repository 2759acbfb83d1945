from __future__ import annotations

import json

from arena.config import RunConfig, fingerprint, validate_config
from arena.config.sweep import SweptConfig
from experiments.sweeping.folder import SweepFolder


def sweep_fingerprint(swept: SweptConfig) -> str:
    """The config as written, in one word."""
    section = swept.sweep.model_dump(mode="json")
    return fingerprint("sweep", {"base": json.loads(json.dumps(dict(swept.base), default=str)), "sweep": section})


def folder_of(swept: SweptConfig) -> SweepFolder:
    """Where a sweep goes: `run_id` names it, else the config's name and fingerprint do, so that the same file goes on.

    Raises:
        ConfigError: `runs_dir` or `run_id` is none.
    """
    placed = {name: swept.base[name] for name in ("runs_dir", "run_id") if name in swept.base}
    config: RunConfig = validate_config(placed, str(swept.path))
    named = "".join(one if one.isalnum() and one.isascii() else "-" for one in swept.path.stem).strip("-")
    return SweepFolder(config.runs_dir / (config.run_id or f"{named[:60] or 'sweep'}-{sweep_fingerprint(swept)[-6:]}"))
