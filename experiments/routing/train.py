"""From a finished run on the part dev to a router's folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from arena.errors import ConfigError
from experiments.routing.evaluation import evaluate
from experiments.routing.examples import LabelSources, training_set
from experiments.routing.folder import require_place, write_router
from experiments.routing.light_training import LightTrainer
from experiments.routing.measured import cross_validated, on_another_run
from experiments.routing.outcome import RouterOutcome
from experiments.routing.t5_training import T5Trainer, Tuning
from experiments.routing.trainer import Trainer
from experiments.routing.ways_run import WaysRun, open_ways_run
from experiments.run.equipment import embedder_of
from experiments.terminal.progress import Reporter

LIGHT, T5 = "light", "t5"


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for; see `arena train-router`. `seed` None = that of the run; `epochs` None = 35, T5 only.

    `data_at`: where the dataset of both runs lies now (None: where their settings say).
    """

    run_folder: Path
    out: Path
    eval_folder: Path | None = None
    model: str = LIGHT
    sources: LabelSources = "both"
    mode: str | None = None
    cost_bias: float = 0.0
    seed: int | None = None
    epochs: int | None = None
    data_at: str | None = None


def train_router(request: Request, reporter: Reporter) -> RouterOutcome:
    """Train, measure and write.

    Raises:
        RunStoreError: a run cannot be read, is not finished, or the two are of different data.
        ConfigError: a run is not what is needed, an option makes no sense, or the folder cannot be written.
        WeightsError: there is no such T5.
    """
    require_place(request.out)
    run = open_ways_run(request.run_folder, request.mode, request.data_at)
    measured_on = open_ways_run(request.eval_folder, request.mode, request.data_at) if request.eval_folder else None
    data = training_set(run, request.sources)
    seed = run.past.config.seed if request.seed is None else request.seed
    trainer = _trainer(request, run, seed, reporter)
    trained = trainer.fit(data.examples)
    if measured_on is None:
        held_out = cross_validated(trainer, data.examples, run, request.sources)
    else:
        held_out = on_another_run(trained, measured_on, run, request.sources)
    evaluation = evaluate(held_out, request.cost_bias, seed)
    outcome = RouterOutcome(run, trainer.kind, trainer.embedder, request.sources, data, trained, evaluation, seed)
    write_router(outcome, request.out)
    return outcome


def _trainer(request: Request, run: WaysRun, seed: int, reporter: Reporter) -> Trainer:
    kind, _, folder = request.model.partition(":")
    if kind == LIGHT and not folder:
        if request.epochs is not None:
            raise ConfigError("--epochs is for --model t5:FOLDER: a regression has none")
        return LightTrainer(embedder_of(run.past.config, reporter))
    if kind == T5 and folder:
        tuning = Tuning() if request.epochs is None else Tuning(epochs=request.epochs)
        devices = run.past.config.embedding.devices
        return T5Trainer(Path(folder).expanduser(), tuning, seed, devices=devices, say=reporter.say)
    raise ConfigError(f"--model {request.model!r}: write light, or t5:FOLDER of a T5 with its tokenizer")
