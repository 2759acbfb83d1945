"""What `arena train-router` made: the router, its data and its measure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from experiments.routing.evaluation import Evaluation
from experiments.routing.examples import LabelSources, TrainingSet
from experiments.routing.trainer import Trained
from experiments.routing.ways_run import WaysRun
from indexing.routing import CALLED, RouterFile, RouterKind
from strategies.adaptive import LABELS


@dataclass(frozen=True, slots=True)
class RouterOutcome:
    """A trained router with all that its folder tells of it. `sources`: which labels it was trained on."""

    run: WaysRun
    kind: RouterKind
    embedder: Mapping[str, str | int] | None
    sources: LabelSources
    data: TrainingSet
    trained: Trained
    evaluation: Evaluation
    seed: int

    @property
    def called(self) -> str:
        return CALLED[self.kind]

    @property
    def training(self) -> dict[str, Any]:
        """What it was trained on, as JSON values."""
        leakage = self.data.leakage
        ids = [one.question_id for one in self.data.examples]
        return {
            "questions": len(ids),
            "ids_sha256": hashlib.sha256("\n".join(ids).encode()).hexdigest(),
            "labels": self.sources,
            "silver": {label: self.data.counts.get(("silver", label), 0) for label in LABELS},
            "prior": {label: self.data.counts.get(("prior", label), 0) for label in LABELS},
            "kept_out": len(leakage.out),
            "kept_out_for": dict(leakage.counts),
            "seed": self.seed,
            **self.trained.facts,
        }

    @property
    def metrics(self) -> dict[str, Any]:
        """How it did on questions that it had not seen, as JSON values."""
        found = self.evaluation
        return {
            "measured_on": found.how,
            "questions": found.n,
            "accuracy": asdict(found.accuracy) if found.accuracy else None,
            "confusion": {truth: dict(row) for truth, row in found.confusion.items()},
            "confusion_shares": {truth: dict(row) for truth, row in found.row_normalised.items()},
            "policies": [asdict(one) for one in found.policies],
            "cost_bias": [asdict(one) for one in found.biases],
        }

    def described(self, weights_sha256: str) -> RouterFile:
        """The content of its router.json."""
        manifest = self.run.past.manifest
        return RouterFile(
            kind=self.kind,
            called=self.called,
            labels=LABELS,
            reader=self.run.reader,
            reader_sha256=manifest["identity"].get("model_sha256"),
            embedder=self.embedder,
            weights_sha256=weights_sha256,
            run={
                "run_id": self.run.run_id,
                "fingerprint": manifest["fingerprint"],
                "started": manifest["started"],
                "dataset": self.run.past.dataset.name,
                "dataset_fingerprint": self.run.past.dataset.fingerprint,
                "mode": self.run.mode,
            },
            training=self.training,
            metrics=self.metrics,
        )

    def fields(self, folder: Path) -> dict[str, Any]:
        """Everything, as JSON values. `folder`: where it was written."""
        return {
            "written": str(folder),
            "kind": self.kind,
            "called": self.called,
            "reader": self.run.reader,
            "training": self.training,
            "kept_out_ids": {key: list(reasons) for key, reasons in self.data.leakage.out.items()},
            "metrics": self.metrics,
        }
