"""From a finished run on the dev part to thresholds, and to the config that takes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from arena.errors import ConfigError, UnknownNameError
from experiments.calibrating.config_file import NAME, require_place, write_config
from experiments.calibrating.corrective import calibrate_corrective
from experiments.calibrating.dev_run import DevRun, open_dev_run
from experiments.calibrating.finding import TARGETS, Calibration, Finding
from experiments.calibrating.rerank import calibrate_rerank
from experiments.calibrating.router import calibrate_router
from experiments.calibrating.self_rag import calibrate_self_rag
from experiments.terminal.progress import Reporter

_CALIBRATE: Mapping[str, Callable[[DevRun], Finding]] = dict(
    zip(TARGETS, (calibrate_rerank, calibrate_corrective, calibrate_self_rag, calibrate_router), strict=True)
)


def calibrate_run(
    run_folder: Path, target: str | None, out: Path | None, reporter: Reporter, data_at: str | None = None
) -> Calibration:
    """Choose what the run can tell, and write what may be used.

    Args:
        run_folder: a finished run on the part dev.
        target: one of TARGETS; None = every one that the run can tell of.
        out: the config to write; None = calibrated.yaml in the run's folder.
        reporter: who is warned of what does not separate.
        data_at: where its dataset lies now (None: where its settings say).

    Raises:
        UnknownNameError: there is no such target.
        ConfigError: the run asks questions of another part, or cannot tell; or `out` cannot be written.
        RunStoreError: it is no finished run, or cannot be read.
    """
    if target is not None and target not in TARGETS:
        raise UnknownNameError("target", target, TARGETS)
    place = out or run_folder / NAME
    run = open_dev_run(run_folder, data_at)
    require_place(place)
    findings, untold = [], {}
    for name in TARGETS if target is None else (target,):
        try:
            findings.append(_CALIBRATE[name](run))
        except ConfigError as error:
            untold[name] = str(error)
    if not findings:
        raise ConfigError("; ".join(f"{name}: {why}" for name, why in untold.items()))
    usable = [finding for finding in findings if finding.separates]
    for finding in findings:
        if not finding.separates:
            reporter.warn(f"{finding.target}: {finding.verdict}; no value of it may be used")
    if usable:
        write_config(run, usable, place)
    elif place.exists():
        reporter.warn(f"{str(place)!r} is left as it was: it is of an earlier calibration, and not of this run")
    manifest = run.past.manifest
    return Calibration(
        run.past.store.run_id,
        manifest["fingerprint"],
        manifest["started"],
        tuple(findings),
        untold,
        place if usable else None,
    )
