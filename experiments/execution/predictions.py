"""`arena score`: predictions in MuSiQue's official format, by the official figures and as a row of the arena's own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from arena.accounting import Account, Spend, Total
from arena.datasets.musique import PooledMusique, read_musique, read_official_gold, read_predictions
from arena.errors import ConfigError, DatasetError
from arena.files import file_sha256
from arena.leaderboard.build import Leaderboard, build_leaderboard
from arena.metrics.answer import NOT_OFFICIAL, evaluate
from arena.metrics.case import NO_RETRIEVAL
from arena.scoring import CellScores, ScoreTable, score_records
from arena.store import RunStore
from arena.types import NO_RETRIEVAL_MODE, Answer, Cell, Dataset, RunRecord, Score
from arena.types.data import OfficialPrediction
from experiments.execution.scoring import board_of, open_past_run, rescore, score_run
from experiments.terminal.progress import Reporter
from experiments.terminal.tables import as_json

_SOMEHOW = "somehow"
"""Retrieval mode under which their support is scored: it was found, and nobody says how."""

OF_RETRIEVALS = frozenset(
    {
        *("retrieved_recall", "retrieved_precision", "evidence_availability"),
        *("recall_at_5", "recall_at_10", "hit_at_5", "precision_at_5", "mrr", "ndcg_at_10", "map"),
    }
)
"""Metrics of what was retrieved and how it was ranked, which predictions do not tell."""

_UNKNOWN = Account(paid=Spend(input_tokens=Total(0, 1), output_tokens=Total(0, 1), usd=Total(0.0, 1)), unpriced_calls=1)


@dataclass(frozen=True, slots=True)
class Predictions:
    """A prediction file scored.

    `official`: MuSiQue's own figures over the whole file, in [0, 1], unrounded. `row`: the arena's scores, of the
    questions asked for.
    """

    name: str
    sha256: str
    official: Mapping[str, float]
    row: CellScores
    dataset: Dataset


def score_predictions(path: Path, dataset_spec: str, only: Collection[str] | None = None) -> Predictions:
    """Score the predictions in `path`.

    `path` has one prediction per record of the data (`musique:PATH`), in the official format. `only`: ids of the
    questions that the row is about (None: all).

    Raises:
        ConfigError: the dataset is not MuSiQue's.
        DatasetError: a file cannot be read; a line is malformed, or an id is missing, unknown or repeated.
    """
    data = _data_file(dataset_spec)
    gold = read_official_gold(data)
    predictions = read_predictions(path, gold)
    pooled = read_musique(data)
    dataset = replace(pooled.dataset, name=dataset_spec)
    sha256 = file_sha256(path)
    cell = Cell(f"predictions:{path.stem}", _SOMEHOW, None, {"file_sha256": sha256[:16]})
    records = (record for record in _records(cell, predictions, pooled) if only is None or record.question_id in only)
    rows = score_records(records, dataset).cells
    if not rows:
        raise DatasetError(f"{path} predicts none of the {len(only or ())} questions that were asked")
    return Predictions(path.stem, sha256, evaluate(predictions, gold), _without_the_unknown(rows[0]), dataset)


def predictions_board(scored: Predictions) -> Leaderboard:
    """A leaderboard of this one row."""
    return build_leaderboard(
        ScoreTable((scored.row,)),
        scored.dataset,
        run_id=scored.row.cell.strategy,
        fingerprint=f"predictions_{scored.sha256[:16]}",
        tiers={},
        seed=0,
    )


def _data_file(spec: str) -> Path:
    name, _, argument = spec.partition(":")
    if name != "musique" or not argument or "\0" in argument:
        raise ConfigError(
            f"predictions are scored against one of MuSiQue's official files, and dataset {spec!r} is none: write "
            "--dataset musique:FILE.jsonl"
        )
    return Path(argument).expanduser()


def _records(cell: Cell, predictions: tuple[OfficialPrediction, ...], pooled: PooledMusique) -> Iterator[RunRecord]:
    """One record per prediction. Evidence is what it names as support; it abstains where it predicts no answer."""
    for question, predicted in zip(pooled.dataset.questions, predictions, strict=True):
        ids = pooled.paragraph_ids[question.question_id]
        support = tuple(dict.fromkeys(ids.get(idx, f"no paragraph {idx}") for idx in predicted.support_idxs))
        yield RunRecord(
            cell=cell,
            question_id=question.question_id,
            outcome="answered" if predicted.answerable else "abstained",
            answer=Answer(predicted.answer, not predicted.answerable, used_ids=support, cited_ids=support),
            failure=None,
            retrievals=(),
            calls=(),
            decisions=(),
            wall_seconds=0.0,
        )


def _without_the_unknown(row: CellScores) -> CellScores:
    """The row without what predictions do not tell: what was retrieved, what it took, and so what went wrong."""
    scores = {question_id: tuple(map(_told, scores)) for question_id, scores in row.scores.items()}
    usage = {question_id: replace(one, measured=False, account=_UNKNOWN) for question_id, one in row.usage.items()}
    asked_nothing = replace(row.cell, retrieval_mode=NO_RETRIEVAL_MODE)
    return replace(row, cell=asked_nothing, scores=scores, usage=usage, failures={})


def _told(score: Score) -> Score:
    return Score(score.metric, None, NO_RETRIEVAL) if score.metric in OF_RETRIEVALS else score


Official = Mapping[str, float]
"""MuSiQue's own figures: name -> value in [0, 1], unrounded."""


def scored(
    run_folder: Path | None, predictions: Path | None, dataset: str | None, reporter: Reporter
) -> tuple[Leaderboard, Official | None]:
    """The leaderboard, and the official figures of the predictions (None: there are none).

    Without predictions, a file in MuSiQue's official format, the derived files of the run are written anew. `dataset`:
    what they are scored against, where there is no run; with one, where its dataset lies now.

    Raises:
        ConfigError: neither a run nor predictions; predictions without a dataset.
        UserError: what `rescore` and `score_predictions` raise.
    """
    if predictions is None:
        if run_folder is None:
            raise ConfigError("nothing to score: name a run folder, or --predictions FILE with --dataset musique:PATH")
        return rescore(RunStore.open(run_folder, dataset), reporter), None
    if run_folder is not None:
        return _as_row(RunStore.open(run_folder, dataset), predictions, reporter)
    if dataset is None:
        raise ConfigError(
            f"what {str(predictions)!r} predicts is not said: add --dataset musique:PATH, or a run folder"
        )
    alone = score_predictions(predictions, dataset)
    return predictions_board(alone), alone.official


def _as_row(store: RunStore, predictions: Path, reporter: Reporter) -> tuple[Leaderboard, Official]:
    """The run's leaderboard with the predictions as its last row, on the run's questions. Writes nothing."""
    run = open_past_run(store)
    asked = {question_id for planned in run.plan.cells for question_id in planned.question_ids}
    added = score_predictions(predictions, store.data_at or run.config.dataset, asked)
    reporter.say("scoring ...")
    table = score_run(run)
    return board_of(run, replace(table, cells=(*table.cells, added.row))), added.official


def official_line(official: Official) -> str:
    """The figures that the official program prints, to three decimals as it does; what we add to them stands apart."""
    printed, own = (
        ", ".join(f"{name} {value:.3f}" for name, value in part.items()) for part in _official_and_ours(official)
    )
    return f"MuSiQue's official figures: {printed}" + (f"; ours: {own}" if own else "")


def scored_json(board: Leaderboard, official: Official | None) -> str:
    """The leaderboard as one JSON object.

    Official figures, where there are any, are under `official`; what we add to them is under `beside_official`.
    """
    if official is None:
        return board.model_dump_json(indent=2)
    printed, own = _official_and_ours(official)
    return as_json({"official": printed, "beside_official": own, **board.model_dump(mode="json")})


def _official_and_ours(official: Official) -> tuple[dict[str, float], dict[str, float]]:
    ours = {name: value for name, value in official.items() if name in NOT_OFFICIAL}
    return {name: value for name, value in official.items() if name not in NOT_OFFICIAL}, ours
