from __future__ import annotations

from pathlib import Path

import pytest

from arena.store import RunStore
from experiments.execution.manifest import Session, changed_between, library_versions, working
from experiments.terminal.progress import Reporter
from experiments.terminal.tables import Console

MANIFEST = {"started": "2026-01-01T00:00:00+00:00", "status": "running", "config": {}, "identity": {}}


def quiet() -> Reporter:
    return Reporter(Console(quiet=True), quiet=True)


def test_a_session_is_as_long_as_its_clock_says_whatever_the_time_of_day(tmp_path: Path) -> None:
    ticks = iter((100.0, 107.5))
    session = Session(started="2099-01-01T00:00:00+00:00", clock=lambda: next(ticks))
    store = RunStore(tmp_path / "r1")
    with working(store, quiet(), session), store.creating(session.opening(MANIFEST)):
        session.opened = True
    (entry,) = store.manifest()["sessions"]
    assert entry["started"] == "2099-01-01T00:00:00+00:00"
    assert entry["finished"] < entry["started"]  # the clock was set back meanwhile
    assert entry["seconds"] == 7.5
    assert entry["machine"]["cores"] >= 1


def break_off(store: RunStore, session: Session, reporter: Reporter) -> None:
    with working(store, reporter, session):
        with store.creating(session.opening(MANIFEST)):
            session.opened = True
        reporter.warn("mind the gap")
        raise ZeroDivisionError


def test_a_session_that_breaks_off_leaves_the_run_stopped_and_its_warnings_kept(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "r1")
    with pytest.raises(ZeroDivisionError):
        break_off(store, Session(), quiet())
    manifest = store.manifest()
    assert (manifest["status"], manifest["warnings"]) == ("stopped", ["mind the gap"])
    assert manifest["sessions"][0]["finished"] is not None


def test_a_session_that_never_held_the_folder_writes_nothing(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "r1")
    with store.creating(MANIFEST):
        pass
    before = (store.folder / "manifest.json").read_bytes()
    with working(store, quiet(), Session()):
        pass
    assert (store.folder / "manifest.json").read_bytes() == before


def test_other_libraries_than_before_are_a_warning_of_the_run() -> None:
    here = library_versions()
    assert changed_between(here, here) == []
    assert changed_between(here | {"pydantic": "0.1"}, here) == [f"pydantic 0.1 -> {here['pydantic']}"]
    opened = Session().opening(MANIFEST | {"libraries": here | {"pydantic": "0.1"}})
    assert "pydantic 0.1 -> " in opened["warnings"][0]
