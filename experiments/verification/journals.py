"""The journals: every line whole and of this run, every planned question once, every record readable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from arena.config import RunConfig
from arena.files import read_regular
from arena.llm.limits import Spent
from arena.store import FINISHED, KEPT, LABELS, PAID, PROBE, RECORDS, REVIEW, SUPERSEDED, VERDICTS, RunStore
from arena.store.journal import RECORD_LINES, VERDICT_LINES, record_of, scan
from arena.types import PaidAttempt
from experiments.run.budget import SPENT, attempts_of
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


def check_kept(store: RunStore) -> Iterator[Check]:
    """What people handed in, against the hashes in the manifest."""
    hashes = store.manifest().get(KEPT, {})
    for name in (LABELS, REVIEW):
        path = store.folder / name
        if name in hashes:
            same = sha256(read_regular(path)).hexdigest() == hashes[name]
            yield found(name, [] if same else ["it is not as it was handed in"], "as it was handed in")
        elif path.exists():
            yield Check(name, "not checked", ("the manifest has no hash of it: an earlier version wrote it",))


def check_others(store: RunStore) -> Iterator[Check]:
    """The journals beside the results, those that are there."""
    for name in (SUPERSEDED, PROBE):
        path = store.folder / name
        if path.exists():
            n = len({record_of(path, line, RECORD_LINES).question_id for line in scan(path, store.lines())})
            yield Check(name, "ok", (f"records of {n} questions",))


def check_payments(store: RunStore, manifest: Mapping[str, Any], config: RunConfig) -> Check:
    """The ledger of payments: that it has all that the journals say was paid, and what of it no record has.

    A run that was begun by a version without a ledger has in its first line what it had spent before; of that, nothing
    is looked for.
    """
    if not store.keeps_payments():
        return Check(PAID, "note", ("the run was made by a version that kept no ledger of payments",))
    entered: Counter[int] = Counter()
    whole, before, recorded = Spent(), Spent(), Spent()
    for paid in store.paid():
        whole = whole.and_one(paid, _unpriced)
        if paid.purpose == "before":
            before = before.and_one(paid, _unpriced)
        else:
            entered[_payment(paid)] += 1
    missing = 0
    for paid in attempts_of(store, config):
        if entered[_payment(paid)]:
            entered[_payment(paid)] -= 1
            recorded = recorded.and_one(paid, _unpriced)
        else:
            missing += 1
    wrong = [f"{missing} attempts that the journals have are not in it"] if missing and not before.attempts else []
    return found(PAID, [*wrong, *_fewer(whole, manifest.get(SPENT, {}))], _payments_text(whole, before, recorded))


def _fewer(whole: Spent, noted: Mapping[str, int]) -> Iterator[str]:
    """What the manifest knows and the ledger has not; more it may well have, after a kill."""
    for name, has in (("tokens", whole.tokens), ("attempts", whole.attempts)):
        if has < noted.get(name, 0):
            yield f"it has {has:,} {name}, and the manifest knows of {noted[name]:,}"


def _payments_text(whole: Spent, before: Spent, recorded: Spent) -> str:
    text = f"{whole.attempts - before.attempts:,} attempts, {whole.tokens - before.tokens:,} tokens"
    if extra := whole.attempts - before.attempts - recorded.attempts:
        tokens = whole.tokens - before.tokens - recorded.tokens
        text += f"; {extra:,} of them, {tokens:,} tokens, are in no record: given up, asked before a kill, or a check"
    return text + (f"; {before.tokens:,} tokens were spent before it was begun" if before.attempts else "")


def _payment(paid: PaidAttempt) -> int:
    """Equal for the same attempt in the ledger and in a journal."""
    return hash((paid.purpose, paid.model, paid.role, paid.prompt_sha, paid.attempt))


def _unpriced(paid: PaidAttempt) -> None:
    """Attempts are counted here, not what they cost."""
