"""A trained router on a terminal, or as JSON."""

from __future__ import annotations

import json as json_module
from pathlib import Path

from rich.text import Text

from arena.report.text import print_parts
from experiments.routing.outcome import RouterOutcome
from experiments.routing.tables import LEGEND, bias_rows, confusion_rows, policy_rows
from experiments.terminal.tables import Console
from strategies.adaptive import LABELS


def print_router(found: RouterOutcome, folder: Path, console: Console, *, json: bool) -> None:
    """Print what was trained and how good it is, or one JSON object."""
    if json:
        console.file.write(json_module.dumps(found.fields(folder), indent=2, ensure_ascii=False) + "\n")
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
            bias_rows(evaluation.biases),
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
