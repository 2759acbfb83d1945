"""`arena train-router`: from a finished run on the part dev to a router's folder, which is written whole or not at all.

CARD.md explains the router to someone who finds its folder. The same rows of text serve the terminal and the card.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from arena.errors import ConfigError
from arena.files import making_folder
from arena.report.figures import difference_text, per_question_text, ratio_interval_text, ratio_text, signed_text
from arena.report.text import Rows, print_parts
from experiments.execution.equipment import embedder_of
from experiments.studies.router.data import LabelSources, WaysRun, open_ways_run, training_set
from experiments.studies.router.measure import (
    PolicyRow,
    RouterEvaluation,
    RouterOutcome,
    cross_validated,
    evaluate,
    on_another_run,
)
from experiments.studies.router.training import LightTrainer, T5Trainer, Trainer, Tuning
from experiments.terminal.progress import Reporter
from experiments.terminal.tables import Console, as_json
from indexing.routing.opening import NAME, router_text, weights_sha256
from strategies.adaptive import LABELS

LEGEND = (
    "right label: the simplest way that answers right, else the prior of the question's kind. right: answers that are "
    "exactly a gold one. steps: retrievals a question. Differences to always_c: of right answers, in pairs, with their "
    "95 % interval; of steps, as a share of its steps."
)


def policy_rows(rows: Sequence[PolicyRow], *, by_bias: bool = False) -> Rows:
    """Who routed, and what it would have come to. `by_bias`: the router under preferences for cheaper labels."""
    first = "cost_bias" if by_bias else "routed by"
    headings = (first, "n", "right label", *LABELS, "right", "less always_c", "steps", "of always_c's")
    return Rows(headings, tuple((f"{one.bias:g}" if by_bias else one.policy, *_figures(one)) for one in rows), 1)


def confusion_rows(found: RouterEvaluation) -> Rows:
    """Right labels by given ones: counts, and shares of each right label."""
    headings = ("right label", *(f"given {label}" for label in LABELS), *(f"share {label}" for label in LABELS))
    rows = tuple(
        (
            truth,
            *(str(found.confusion[truth][label]) for label in LABELS),
            *(ratio_text(found.row_normalised[truth][label]) for label in LABELS),
        )
        for truth in LABELS
    )
    return Rows(headings, rows, 1)


def _figures(row: PolicyRow) -> tuple[str, ...]:
    return (
        str(row.n),
        ratio_interval_text(row.agreement),
        *(ratio_text(row.shares.get(label)) for label in LABELS),
        ratio_interval_text(row.right),
        difference_text(row.against_c),
        per_question_text(row.steps),
        signed_text(row.steps_against_c),
    )


_WHAT = {
    "light": (
        "Multinomial logistic regression (scikit-learn, C = 1) on the embedding of the question and the logarithm of "
        "its length. A stand-in for the paper's T5, and no T5."
    ),
    "t5": (
        "The paper's classifier: T5 reads the raw question and writes one letter. Trained here, on the outcomes of "
        "this reader (T2-local); the authors published no weights."
    ),
}


def card_text(found: RouterOutcome) -> str:
    """The whole card, in Markdown."""
    return "\n\n".join([*_about(found), *_data(found), *_measured(found), *_apart(found)]) + "\n"


def _about(found: RouterOutcome) -> Iterator[str]:
    manifest = found.run.past.manifest
    yield f"# Router for {found.run.reader}: {found.called}"
    yield _WHAT[found.kind]
    yield _table(
        ("", ""),
        [
            ("reader", f"{found.run.reader}, and no other: silver labels of one model are wrong for another"),
            ("run", f"{found.run.run_id}, {manifest['fingerprint']}, started {manifest['started']}"),
            ("dataset", f"{found.run.past.dataset.name}, {found.run.past.dataset.fingerprint}"),
            ("mode of ways B and C", found.run.mode),
            ("embedder", str(found.embedder["model"]) if found.embedder else "none"),
            *((name, str(value)) for name, value in found.trained.facts.items()),
            ("seed", str(found.seed)),
            ("use", "`--strategies adaptive:policy=router:router=FOLDER`"),
        ],
    )


def _data(found: RouterOutcome) -> Iterator[str]:
    data, told = found.data, found.training
    yield "## Training questions"
    yield (
        f"{told['questions']} questions of the part dev, ids SHA-256 {told['ids_sha256']}. A label is the simplest way "
        "that answered right (silver); where none did, the prior of the question's kind (single-hop B, multi-hop C). "
        "Summaries, unanswerable questions and those with a failed call have none."
    )
    weights = {one.label: one.weight if found.kind == "light" else 1.0 for one in data.examples}
    yield _table(
        ("label", "silver", "prior", "labelled before any was kept out", "weight in training"),
        [
            (
                label,
                str(told["silver"][label]),
                str(told["prior"][label]),
                str(data.labelled.get(label, 0)),
                ratio_text(weights.get(label)),
            )
            for label in LABELS
        ],
    )


def _measured(found: RouterOutcome) -> Iterator[str]:
    evaluation = found.evaluation
    yield f"## Measured on {evaluation.n} questions"
    yield f"Held out: {evaluation.how}."
    yield rows_markdown(policy_rows(evaluation.policies))
    yield LEGEND
    yield rows_markdown(confusion_rows(evaluation))
    yield rows_markdown(policy_rows(evaluation.biases, by_bias=True))


def _apart(found: RouterOutcome) -> Iterator[str]:
    leakage = found.data.leakage
    yield "## Kept out of training"
    yield (
        f"{len(leakage.out)} labelled questions share something with a question of the part eval, asked or not, and "
        "were not trained on:"
    )
    yield _table(("for", "questions"), [(reason, str(count)) for reason, count in leakage.counts.items()])
    yield "\n".join(f"- {question_id}: {', '.join(reasons)}" for question_id, reasons in leakage.out.items()) or "None."


def rows_markdown(rows: Rows) -> str:
    """Rows as a Markdown table."""
    return _table(rows.headings, rows.rows)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = (headings, ["---"] * len(headings), *rows)
    return "\n".join(f"| {' | '.join(text.replace('|', chr(92) + '|') for text in line)} |" for line in lines)


CARD = "CARD.md"


def require_place(out: Path) -> None:
    """Refuse, before anything is worked out, a place where no new folder can be made."""
    if out.exists():
        raise ConfigError(f"{str(out)!r} is already there: choose another --out, or remove it first")
    if not out.absolute().parent.is_dir():
        raise ConfigError(f"cannot make {str(out)!r}: --out names a new folder inside one that is there")


def write_router(found: RouterOutcome, out: Path) -> None:
    """Write weights, router.json and CARD.md beside `out`, and put them in its place together.

    Raises:
        ConfigError: the disk refused, or `out` is there by now; nothing is left behind.
    """
    try:
        with making_folder(out) as part:
            found.trained.save(part)
            described = found.described(weights_sha256(part, found.kind))
            (part / NAME).write_text(router_text(described), encoding="utf-8")
            (part / CARD).write_text(card_text(found), encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"cannot write the router {str(out)!r} ({error.strerror or error}): choose another --out"
        ) from error


LIGHT, T5 = "light", "t5"


@dataclass(frozen=True, slots=True)
class TrainingRequest:
    """What is asked for; see `arena train-router`. `seed` None = that of the run; `epochs` None = 35, T5 only.

    `data_at`: where the dataset of both runs lies now (None: where their settings say). `trust_remote_code`: code of
    the run's embedding model may run, where its settings ask for that too.
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
    trust_remote_code: bool = False


def train_router(request: TrainingRequest, reporter: Reporter) -> RouterOutcome:
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


def _trainer(request: TrainingRequest, run: WaysRun, seed: int, reporter: Reporter) -> Trainer:
    kind, _, folder = request.model.partition(":")
    if kind == LIGHT and not folder:
        if request.epochs is not None:
            raise ConfigError("--epochs is for --model t5:FOLDER: a regression has none")
        if run.past.config.embedding.trust_remote_code and not request.trust_remote_code:  # a folder may be anyone's
            raise ConfigError(
                f"run {run.run_id!r} lets its embedding model run code of its own (embedding.trust_remote_code); to go "
                "on, say that you trust it: --trust-remote-code"
            )
        return LightTrainer(embedder_of(run.past.config, reporter))
    if kind == T5 and folder:
        tuning = Tuning() if request.epochs is None else Tuning(epochs=request.epochs)
        devices = run.past.config.embedding.devices
        return T5Trainer(Path(folder).expanduser(), tuning, seed, devices=devices, say=reporter.say)
    raise ConfigError(f"--model {request.model!r}: write light, or t5:FOLDER of a T5 with its tokenizer")


def print_router(found: RouterOutcome, folder: Path, console: Console, *, json: bool) -> None:
    """Print what was trained and how good it is, or one JSON object."""
    if json:
        console.file.write(as_json(found.fields(folder)) + "\n")
        return
    evaluation = found.evaluation
    print_parts(
        [
            Text(f"{found.called}, for {found.run.reader}, from run {found.run.run_id}"),
            Text("\n".join(_data_lines(found))),
            Text(f"measured on {evaluation.n} questions: {evaluation.how}"),
            policy_rows(evaluation.policies),
            LEGEND,
            confusion_rows(evaluation),
            policy_rows(evaluation.biases, by_bias=True),
            Text(f"written {folder}  (next: arena run --strategies adaptive:policy=router:router={folder})"),
        ],
        console,
    )


def _data_lines(found: RouterOutcome) -> list[str]:
    told = found.training
    counts = ", ".join(f"{label} {told['silver'][label]} silver + {told['prior'][label]} prior" for label in LABELS)
    reasons = ", ".join(f"{reason}: {count}" for reason, count in told["kept_out_for"].items())
    return [
        f"trained on {told['questions']} dev questions ({counts})",
        f"kept out {told['kept_out']} that share something with the part eval" + (f" ({reasons})" if reasons else ""),
    ]
