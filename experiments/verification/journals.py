"""The journals: every line whole and of this run, every planned question once, every record readable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from arena.journal import RECORD_LINES, VERDICT_LINES, record_of, scan
from arena.store import FINISHED, PROBE, RECORDS, SUPERSEDED, VERDICTS, RunStore
from experiments.verification.check import Check, found


def check_records(store: RunStore) -> Check:
    """Checksums and fingerprints of all lines, and that the planned questions have one each, and no others any."""
    counts = Counter(line.key for line in scan(store.records_path, store.lines()))
    planned = store.plan().keys()
    missing = Counter(cell for cell, question in planned if (cell, question) not in counts)
    wrong = [f"{number} planned questions of {cell} have no record" for cell, number in sorted(missing.items())]
    beyond = counts.keys() - set(planned)
    wrong += [f"{question} of {cell} has a record and is not planned" for cell, question in sorted(beyond)]
    if store.manifest()["status"] == FINISHED:
        twice = sorted(key for key, number in counts.items() if number > 1)
        wrong += [f"{key[1]} of {key[0]} has {counts[key]} records" for key in twice]
    unread = sum(1 for _ in store.records())
    return found(RECORDS, wrong, f"{unread} records, one for every planned question")


def check_verdicts(store: RunStore) -> Check:
    """Checksums and fingerprints, and that what was judged is a record of this run."""
    planned, n = set(store.plan().keys()), 0
    wrong: Counter[str] = Counter()
    for line in scan(store.folder / VERDICTS, store.lines()):
        verdict, n = record_of(store.folder / VERDICTS, line, VERDICT_LINES), n + 1
        if (verdict.cell, verdict.question_id) not in planned:
            wrong[f"verdicts on {verdict.question_id} of {verdict.cell}, which is not planned"] += 1
    return found(VERDICTS, (f"{number} {text}" for text, number in wrong.items()), f"{n} verdicts")


def check_others(store: RunStore) -> Iterator[Check]:
    """The journals beside the results, those that are there."""
    for name in (SUPERSEDED, PROBE):
        path = store.folder / name
        if path.exists():
            n = len({record_of(path, line, RECORD_LINES).question_id for line in scan(path, store.lines())})
            yield Check(name, "ok", (f"records of {n} questions",))
