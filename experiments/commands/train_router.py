"""`arena train-router`: a router for one reader, from that reader's own outcomes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arena.errors import ConfigError
from experiments.cli_groups import MovedData


def train_router(
    run_folder: Annotated[
        Path,
        typer.Argument(help="A finished run on the part dev of adaptive:policy=always_a, always_b and always_c."),
    ],
    out: Annotated[Path, typer.Option(help="Folder to make: adaptive:policy=router:router=FOLDER.")],
    eval_run: Annotated[
        Path | None,
        typer.Option("--eval", help="The same on the part eval, to measure on; default: cross-validation."),
    ] = None,
    model: Annotated[str, typer.Option(help="light (embedding + logistic regression), or t5:FOLDER.")] = "light",
    labels: Annotated[
        str, typer.Option(help="silver: outcomes alone; both: also priors where no way is right.")
    ] = "both",
    mode: Annotated[str | None, typer.Option(help="Retrieval mode, where the run has several.")] = None,
    cost_bias: Annotated[float, typer.Option(min=0, max=100, help="Preference for cheaper labels to measure.")] = 0.0,
    epochs: Annotated[int | None, typer.Option(min=1, help="Of a T5; default 35.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Default: that of the run.")] = None,
    dataset: MovedData = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Train a router on dev questions, measure it on questions it cannot know, and write its folder and card."""
    if labels not in ("both", "silver"):
        raise ConfigError(f"--labels {labels!r}: write both or silver")
    from experiments.studies.router.train import Request, print_router
    from experiments.studies.router.train import train_router as train
    from experiments.terminal.progress import Reporter
    from experiments.terminal.tables import Console

    request = Request(
        run_folder,
        out,
        eval_run,
        model,
        "silver" if labels == "silver" else "both",
        mode,
        cost_bias,
        seed,
        epochs,
        dataset,
    )
    found = train(request, Reporter(Console(stderr=True), quiet=json))
    print_router(found, out, Console(), json=json)
