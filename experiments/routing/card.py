"""CARD.md: a router for whoever finds its folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arena.report.figures import ratio_text
from arena.report.text import Rows
from experiments.routing.outcome import RouterOutcome
from experiments.routing.tables import LEGEND, bias_rows, confusion_rows, policy_rows
from strategies.adaptive import LABELS

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
    yield rows_markdown(bias_rows(evaluation.biases))


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
