"""Whether every cell can answer at all, found out before the long part of a run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from collections.abc import Set as AbstractSet

from arena.errors import UserError
from arena.plan import Key
from arena.types import RunRecord

Ask = Callable[[], Awaitable[RunRecord]]
Keep = Callable[[RunRecord], Awaitable[None]]

CHECKED = 3
"""Failed first questions that condemn a cell; one or two may be the questions' fault."""


async def ask_first(questions: Sequence[Ask], keep: Keep, *, proven: bool) -> int:
    """Ask a cell its first questions, at most `CHECKED`, until one does not fail; how many were asked.

    Their records are kept like any other's. Of a cell that is `proven`, having records already, one question is asked
    and its failure tells nothing.

    Raises:
        UserError: all `CHECKED` of them failed. They are not kept, so that they are asked again when the run goes on.
    """
    failed: list[RunRecord] = []
    for n_asked, ask in enumerate(questions[:CHECKED], start=1):
        record = await ask()
        if record.failure is None or proven:
            for one in (*failed, record):
                await keep(one)
            return n_asked
        failed.append(record)
    if len(failed) == CHECKED:
        raise UserError(_broken(failed[-1]))
    for one in failed:
        await keep(one)
    return len(failed)


def proven_cells(done: AbstractSet[Key]) -> frozenset[str]:
    """Keys of the cells that have a record among `done`."""
    return frozenset(cell for cell, _ in done)


def _broken(record: RunRecord) -> str:
    failure = record.failure
    assert failure is not None
    cell = record.cell
    return (
        f"{cell.strategy} in mode {cell.retrieval_mode} (cell {cell.key}) failed each of its first {CHECKED} "
        f"questions, the last of them {record.question_id!r} at stage {failure.stage} with {failure.type}: "
        f"{failure.message}. Nothing of them is kept. Mend what fails and go on with --resume, or leave "
        "this check out with --set health_check=false"
    )
