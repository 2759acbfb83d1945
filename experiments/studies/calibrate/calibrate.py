"""`arena calibrate`: from a finished run on the dev part to thresholds, and to calibrated.yaml.

The file holds the chosen values, and all settings of the run that they hold for. What was found is printed, or written
as JSON; distributions of scores are drawn one under the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from rich.text import Text

from arena.config import merge, validate_config
from arena.errors import ConfigError, UnknownNameError
from arena.report.figures import difference_text, per_question_text, ratio_interval_text, ratio_text, signed_text
from arena.report.text import Part, Rows, print_parts
from arena.statistics.intervals import Interval
from arena.store.files import replace_text
from experiments.studies.calibrate.router import calibrate_router
from experiments.studies.calibrate.separation import (
    TARGETS,
    Calibration,
    Chosen,
    DevRun,
    Figure,
    Population,
    TargetCalibration,
    open_dev_run,
)
from experiments.studies.calibrate.thresholds import calibrate_corrective, calibrate_rerank, calibrate_self_rag
from experiments.terminal.progress import Reporter
from experiments.terminal.tables import Console, as_json
from strategies import find_variant

NAME = "calibrated.yaml"
_OF_THIS_RUN = ("run_id", "sample")
_WRITTEN_BY = "Written by `arena calibrate`."
_HOW_DRAWN = ("limit", "model_limit", "balance")


def write_config(run: DevRun, findings: Sequence[TargetCalibration], out: Path) -> None:
    """Write the values of `findings` as a config that `arena run` takes, asking the part eval.

    Raises:
        ConfigError: they contradict the run's other settings.
        RunStoreError: the file cannot be written; what was there is whole.
    """
    settings = _settings(run, findings)
    where = f"the calibrated settings of run {run.past.store.run_id!r}"
    config = validate_config(settings, where)
    for entry in config.strategies:
        find_variant(entry, config.strategy_params)
    text = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True, width=120)
    replace_text(out, "".join(f"# {line}\n" for line in _header(run, findings)) + text)


def _settings(run: DevRun, findings: Sequence[TargetCalibration]) -> dict[str, Any]:
    """The run's own settings, where they are not the defaults, under the values chosen."""
    config = run.past.config
    sampled = config.sample.model_dump(mode="json", exclude_defaults=True)
    given = config.model_dump(mode="json", exclude_defaults=True, exclude=set(_OF_THIS_RUN))
    dataset = {"dataset": config.dataset, "strategies": list(config.strategies), "modes": list(config.modes)}
    settings: dict[str, Any] = dataset | given
    settings["sample"] = {name: sampled[name] for name in _HOW_DRAWN if name in sampled} | {"part": "eval"}
    for finding in findings:
        if finding.target == "rerank":
            threshold = {"value": finding.chosen[0].value, "reranker": finding.judge}
            settings = merge(settings, {"rerank": {"threshold": threshold}})
            continue
        strategy = finding.chosen[0].setting.split(".")[1]
        values: dict[str, Any] = {one.name: one.value for one in finding.chosen}
        values |= {"calibrated": list(values), "calibrated_for": finding.judge}
        settings = merge(settings, {"strategy_params": {strategy: values}})
        settings["strategies"] = [_without(entry, strategy, values) for entry in settings["strategies"]]
    return settings


def _without(entry: str, strategy: str, values: dict[str, Any]) -> str:
    """An entry of `strategies` without what it sets of these itself, which would go over them."""
    name, *settings = entry.split(":")
    kept = [one for one in settings if one.partition("=")[0].strip() not in values]
    return ":".join([name, *kept]) if name == strategy else entry


def _header(run: DevRun, findings: Sequence[TargetCalibration]) -> list[str]:
    manifest = run.past.manifest
    lines = [
        f"{_WRITTEN_BY} Next: arena run FILE",
        f"run {run.past.store.run_id}, fingerprint {manifest['fingerprint']}, {manifest['started']}, part dev",
    ]
    for finding in findings:
        lines += [_line(finding, one) for one in finding.chosen]
    return lines


def _line(finding: TargetCalibration, one: Chosen) -> str:
    counts = ", ".join(f"{len(side.scores)} {side.name}" for side in finding.populations)
    span = " to ".join("none" if end is None else f"{end:.6g}" for end in (one.low, one.high))
    return f"{one.setting}: {one.criterion}; 95 % interval {span}; n = {counts}; cell {finding.cell}"


def require_place(out: Path) -> None:
    """Refuse, before anything is worked out, a place where no file can be written, and a file of another kind.

    Raises:
        ConfigError: there is no folder for it, or a file that no calibration wrote, which would be lost.
    """
    if out.is_dir() or not out.parent.is_dir():
        raise ConfigError(f"cannot write {str(out)!r}: --out names a file in a folder that is there")
    if out.exists() and not out.read_bytes().startswith(f"# {_WRITTEN_BY}".encode()):
        raise ConfigError(f"{str(out)!r} exists, and no calibration wrote it: name another file with --out")


_CALIBRATE: Mapping[str, Callable[[DevRun], TargetCalibration]] = dict(
    zip(TARGETS, (calibrate_rerank, calibrate_corrective, calibrate_self_rag, calibrate_router), strict=True)
)


def calibrate_run(
    run_folder: Path, target: str | None, out: Path | None, reporter: Reporter, data_at: str | None = None
) -> Calibration:
    """Choose what the run can tell, and write what may be used.

    `target`: one of TARGETS; None = every one that the run can tell of. `out`: the config to write; None =
    calibrated.yaml in the run's folder. `data_at`: where its dataset lies now (None: where its settings say).

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


BINS = 24
_BARS = " ▁▂▃▄▅▆▇█"
QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


def quantiles(population: Population) -> tuple[float, ...]:
    """The scores at `QUANTILES`."""
    return tuple(float(one) for one in np.quantile(population.scores, QUANTILES))


def bars(populations: tuple[Population, Population]) -> tuple[str, str]:
    """One line each over the range of both, a character a bin, as high as its share of the population's fullest bin.

    A bin that holds anything is never drawn empty.
    """
    every = [score for one in populations for score in one.scores]
    low, high = min(every), max(every)
    span = (low, high) if high > low else (low - 0.5, high + 0.5)
    first, second = (_bars_of(one, span) for one in populations)
    return first, second


def _bars_of(population: Population, span: tuple[float, float]) -> str:
    counts, _ = np.histogram(population.scores, BINS, span)
    steps = np.ceil(counts / counts.max() * (len(_BARS) - 1)).astype(int)
    return "".join(_BARS[step] for step in steps)


_COUNTED = frozenset({"passages", "words", "tokens", "retrievals"})
"""Headings of figures that are amounts, not ratios."""


def print_calibration(found: Calibration, console: Console, *, json: bool) -> None:
    """Print all that was found, or one JSON object."""
    if json:
        console.file.write(as_json(calibration_fields(found)) + "\n")
        return
    parts: list[Part] = []
    for finding in found.findings:
        parts += _finding_parts(finding)
    parts += [Text(f"{target}: not told: {why}") for target, why in found.untold.items()]
    next_step = f"written {found.written}  (next: arena run {found.written})"
    parts.append(Text(next_step if found.written else "no config is written: no value may be used"))
    print_parts(parts, console)


def calibration_fields(found: Calibration) -> dict[str, Any]:
    """Everything, as JSON values."""
    fields = asdict(found) | {"written": None if found.written is None else str(found.written)}
    for finding, told in zip(found.findings, fields["findings"], strict=True):
        for population, one in zip(finding.populations, told["populations"], strict=True):
            one["quantiles"] = dict(zip(map(str, QUANTILES), quantiles(population), strict=True))
    return fields


def _finding_parts(finding: TargetCalibration) -> Iterator[Part]:
    yield Text(f"{finding.target}: {finding.judge}, read in {finding.cell}")
    yield _table_rows(finding)
    yield Text("\n".join(_choice_lines(finding)))
    if finding.parts:
        yield _part_rows(finding)
    yield _distribution_rows(finding)
    yield from finding.notes
    yield Text(finding.verdict + ("" if finding.separates else "; nothing of it is written"))
    yield Text("")


def _table_rows(finding: TargetCalibration) -> Rows:
    table = finding.table
    rows = tuple(
        (
            value_text(row.value),
            row.mark,
            *(_figure_text(heading, figure) for heading, figure in zip(table.headings, row.figures, strict=True)),
        )
        for row in table.rows
    )
    setting = finding.chosen[0].name if len(finding.chosen) == 1 else "threshold"
    return Rows((setting, "", *table.headings), rows, 2)


def _choice_lines(finding: TargetCalibration) -> Iterator[str]:
    yield f"AUC {ratio_interval_text(finding.auc)}"
    for one in finding.chosen:
        span = f"{value_text(one.low)} to {value_text(one.high)}"
        yield f"{one.setting} {value_text(one.value)}, {span} in resamples: {one.criterion}"
        yield "  " + ", ".join(f"{name} {_measure_text(name, value)}" for name, value in one.measures.items())


def _part_rows(finding: TargetCalibration) -> Rows:
    rows = []
    for part in finding.parts:
        kept, refused, gain = part.best.measures.values()
        figures = (
            ratio_interval_text(part.auc),
            value_text(part.best.value),
            ratio_interval_text(kept),
            ratio_interval_text(refused),
        )
        rows.append((part.name, str(part.n), *figures, difference_text(gain), "yes" if part.separates else "no"))
    headings = ("alone", "n", "AUC", "best", "kept", "refused", "J less optimism", "separates")
    return Rows(headings, tuple(rows), 1)


def _distribution_rows(finding: TargetCalibration) -> Rows:
    drawn = bars(finding.populations)
    rows = tuple(
        (one.name, f"|{line}|", str(len(one.scores)), *(f"{score:.3g}" for score in quantiles(one)))
        for one, line in zip(finding.populations, drawn, strict=True)
    )
    names = ("least", "10%", "25%", "median", "75%", "90%", "most")
    return Rows(("scores of", "", "n", *names), rows, 2)


def _figure_text(heading: str, figure: Figure) -> str:
    if isinstance(figure, Interval):
        return ratio_interval_text(figure)
    if heading == "J":
        return signed_text(figure)
    return per_question_text(figure) if heading.split(" ")[0] in _COUNTED else ratio_text(figure)


def _measure_text(name: str, value: Interval) -> str:
    return difference_text(value) if name.startswith(("J", "gain")) else ratio_interval_text(value)


def value_text(value: float | None) -> str:
    """A value of a setting to four digits that count; what is written to a config is not rounded."""
    return "none" if value is None else f"{value:.4g}"
