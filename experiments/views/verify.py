"""`arena verify`: all checks of a run, in the order in which a reader should look at them, as text or as JSON.

The journals come first: every line whole and of this run, every planned question once, every record readable.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from arena.config import RunConfig, validate_config
from arena.errors import UserError
from arena.files import file_sha256
from arena.llm.limits import Spent
from arena.store import (
    CALLS,
    FINISHED,
    KEPT,
    LABELS,
    LEADERBOARD,
    PAID,
    PROBE,
    QUESTIONS,
    RECORDS,
    REPORT,
    REVIEW,
    SCORES,
    SUPERSEDED,
    VERDICTS,
    RunStore,
)
from arena.store.journal import PAID_LINES, RECORD_LINES, VERDICT_LINES, record_of, scan
from arena.types import PaidAttempt
from experiments.execution.budget import SPENT, attempts_of
from experiments.execution.manifest import check_version
from experiments.execution.scoring import data_of
from experiments.views.verify_checks import (
    RunCheck,
    attempted,
    check_calls,
    check_dataset,
    check_here,
    check_index,
    check_report,
    check_results,
    check_settled,
    found,
    several,
)


def check_records(store: RunStore) -> RunCheck:
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


def check_verdicts(store: RunStore) -> RunCheck:
    """Checksums and fingerprints, and that what was judged is a record of this run."""
    planned, n = set(store.plan().keys()), 0
    wrong: Counter[str] = Counter()
    for line in scan(store.folder / VERDICTS, store.lines()):
        verdict, n = record_of(store.folder / VERDICTS, line, VERDICT_LINES), n + 1
        if (verdict.cell, verdict.question_id) not in planned:
            wrong[f"verdicts on {verdict.question_id} of {verdict.cell}, which is not planned"] += 1
    return found(VERDICTS, (f"{number} {text}" for text, number in wrong.items()), f"{n} verdicts")


def check_kept(store: RunStore) -> Iterator[RunCheck]:
    """What people handed in, against the hashes in the manifest."""
    hashes = store.manifest().get(KEPT, {})
    for name in (LABELS, REVIEW):
        path = store.folder / name
        if name in hashes:
            same = file_sha256(path) == hashes[name]
            yield found(name, [] if same else ["it is not as it was handed in"], "as it was handed in")
        elif path.exists():
            yield RunCheck(name, "not checked", ("the manifest has no hash of it: an earlier version wrote it",))


def check_others(store: RunStore) -> Iterator[RunCheck]:
    """The journals beside the results, those that are there."""
    for name in (SUPERSEDED, PROBE):
        path = store.folder / name
        if path.exists():
            n = len({record_of(path, line, RECORD_LINES).question_id for line in scan(path, store.lines())})
            yield RunCheck(name, "ok", (f"records of {n} questions",))


def check_payments(store: RunStore, manifest: Mapping[str, Any], config: RunConfig) -> RunCheck:
    """The ledger of payments: that it has all that the journals say was paid, and what of it no record has.

    A run that was begun by a version without a ledger has in its first line what it had spent before; of that, nothing
    is looked for.
    """
    if not store.keeps_payments():
        if not _had_ledger(manifest):
            return RunCheck(PAID, "note", ("the run was made by a version that kept no ledger of payments",))
        missing = sum(1 for _ in attempts_of(store, config))
        wrong = [f"it is missing, and with it {missing:,} attempts that the journals have: restore a copy"]
        return found(PAID, wrong if missing else [], "there is none, and nothing was paid for")
    entered: Counter[int] = Counter()
    whole, before, recorded = Spent(), Spent(), Spent()
    path, lines = store.folder / PAID, Counter[tuple[str, ...]]()
    for line in scan(path):
        lines[line.key] += 1
        if lines[line.key] > 1:
            continue
        paid = record_of(path, line, PAID_LINES)
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
    if doubled := lines.total() - len(lines):
        wrong.append(f"{doubled:,} lines are there twice; each attempt is counted once")
    return found(PAID, [*wrong, *_fewer(whole, manifest.get(SPENT, {}))], _payments_text(whole, before, recorded))


def _had_ledger(manifest: Mapping[str, Any]) -> bool:
    """Whether the run was begun by a version that kept a ledger, or got one from a later process."""
    release = str(manifest["identity"].get("arena") or "0").split(".")
    begun_with_one = tuple(int(part) for part in release[:2] if part.isdigit()) >= (0, 2)
    return begun_with_one or "attempts" in manifest.get(SPENT, {})


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


_SCORED = (LEADERBOARD, SCORES, QUESTIONS)
"""Files that take the dataset to derive."""


def verify_run(folder: Path, data_at: str | None = None) -> list[RunCheck]:
    """Every check of the run in `folder`, whose dataset lies at `data_at` (None: where its settings say).

    Raises:
        RunStoreError: its manifest or plan cannot be read, so that there is nothing to check against.
        ConfigError: the settings in its manifest are none.
    """
    store = RunStore.open(folder, data_at)
    check_version(store)
    manifest, plan = store.manifest(), store.whole_plan()
    config = validate_config(manifest["config"], f"run {store.run_id!r}")
    checks = [*check_settled(store, manifest, plan, config)]
    checks.append(attempted(RECORDS, check_records, store))
    checks.append(attempted(VERDICTS, check_verdicts, store))
    checks += several("journals", check_others(store))
    checks += several("kept", check_kept(store))
    checks.append(attempted(PAID, check_payments, store, manifest, config))
    checks += _on_data(store, manifest, config)
    if manifest["status"] == FINISHED:
        checks.append(attempted(CALLS, check_calls, store))
    return [*checks, *several("libraries", check_here(manifest))]


def _on_data(store: RunStore, manifest: Mapping[str, Any], config: RunConfig) -> Iterator[RunCheck]:
    """What takes the dataset."""
    try:
        dataset = data_of(store, config.dataset)
    except UserError as error:
        yield RunCheck("dataset", "not checked", (str(error),))
        yield from (RunCheck(name, "not checked", ("its dataset is not to be had",)) for name in _SCORED)
        return
    yield attempted("dataset", check_dataset, manifest, store.whole_plan(), dataset)
    if manifest["identity"].get("index"):
        yield attempted("index", check_index, manifest, config, dataset)
    if manifest["status"] != FINISHED:
        yield from (RunCheck(name, "not checked", ("the run is not finished",)) for name in _SCORED)
    else:
        results = list(several(LEADERBOARD, check_results(store, dataset)))
        yield from results
        if all(check.state == "ok" for check in results):
            yield from several(REPORT, check_report(store))
        elif (store.folder / REPORT).exists():
            yield RunCheck(REPORT, "not checked", ("it is made of files that differ",))


_STYLES = {"ok": "green", "differs": "bold red", "not checked": "yellow", "note": "cyan"}
_DERIVED = {LEADERBOARD, SCORES, QUESTIONS, CALLS}


def checks_table(checks: Sequence[RunCheck]) -> Table:
    """One row per check, and a line for everything that was seen."""
    table = Table("what", "is", "seen")
    for check in checks:
        table.add_row(Text(check.name), Text(check.state, _STYLES[check.state]), Text("\n".join(check.seen)))
    return table


def verdict_text(run_folder: Path, checks: Sequence[RunCheck]) -> str:
    """What the checks come to, in one line, and what to do where only derived files differ."""
    differing = [check.name for check in checks if check.state == "differs"]
    unchecked = [check.name for check in checks if check.state == "not checked"]
    left = f" Not checked: {', '.join(unchecked)}." if unchecked else ""
    if not differing:
        return f"Verified: nothing differs.{left}"
    again = ""
    if {*differing} <= {*_DERIVED, REPORT}:
        command, what = ("report", "it") if differing == [REPORT] else ("score", "them")
        again = f" arena {command} {shlex.quote(str(run_folder))} derives {what} anew."
    return f"Not verified: {', '.join(differing)}.{again}{left}"


def checks_fields(run_id: str, checks: Sequence[RunCheck]) -> dict[str, Any]:
    """The same as one mapping."""
    return {"run_id": run_id, "verified": is_verified(checks), "checks": [asdict(check) for check in checks]}


def is_verified(checks: Sequence[RunCheck]) -> bool:
    """Whether nothing differs. What could not be checked here is no difference."""
    return all(check.state != "differs" for check in checks)
