"""The database beside the runs: never half made, at any folder name; and addresses that can never be opened."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from arena.errors import ConfigError, TrackingError
from arena.tracking.database import check_store, file_of, local_uri, make_whole, openable
from arena.tracking.server import opened

ROOT = Path(__file__).parents[3]
MAKE = (
    "import sys; from pathlib import Path; from arena.tracking.database import make_whole; "
    "make_whole(Path(sys.argv[1]))"
)
ODD_NAME = "é a?b%2Fc#d"


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def making(database: Path, **more: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", MAKE, str(database)]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, **more)  # type: ignore[call-overload, no-any-return]


def half_made(database: Path) -> None:
    """As a kill left one: MLflow's first tables, no version, no row."""
    with closing(sqlite3.connect(database)) as made:
        made.execute("create table experiments (experiment_id integer primary key, name text)")
        made.execute("create table runs (run_uuid text)")
        made.execute("create table alembic_version (version_num text)")
        made.execute("insert into alembic_version values ('451aebb31d03')")
        made.commit()


def test_any_folder_name_gives_a_database_and_artifacts_inside_it(tmp_path: Path) -> None:
    folder = tmp_path / ODD_NAME
    folder.mkdir()
    database = folder / "mlflow.db"
    assert file_of(local_uri(folder)) == file_of(openable(local_uri(folder))) == database.resolve()
    with opened(folder, None) as server:
        run = server.client.create_run(server.experiment_id)
        server.client.log_text(run.info.run_id, "here", "note.txt")
        assert server.client.get_run(run.info.run_id).info.run_id == run.info.run_id
    assert names_in(tmp_path) == [ODD_NAME]
    assert names_in(folder) == ["mlartifacts", "mlflow.db", "mlflow.lock"]
    assert [path.read_text() for path in (folder / "mlartifacts").rglob("note.txt")] == ["here"]


def test_a_kill_while_it_is_made_leaves_none(tmp_path: Path) -> None:
    database, part = tmp_path / "mlflow.db", tmp_path / ".mlflow.db.part"
    with making(database) as process:
        while process.poll() is None and not (part.exists() and part.stat().st_size):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert names_in(tmp_path)[0].startswith(".mlflow.db.part")
    assert not database.exists()
    with opened(tmp_path, None) as server:
        assert server.notes == ()
    assert names_in(tmp_path) == ["mlflow.db", "mlflow.lock"]


def test_a_full_disk_while_it_is_made_leaves_none(tmp_path: Path) -> None:
    def no_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    with making(tmp_path / "mlflow.db", preexec_fn=no_room) as process:
        assert "OperationalError" in process.communicate()[1]
    assert process.returncode
    assert names_in(tmp_path) == []


def test_one_that_is_half_made_is_set_aside_and_made_anew(tmp_path: Path) -> None:
    database = tmp_path / "mlflow.db"
    half_made(database)
    before = database.read_bytes()
    with opened(tmp_path, None) as server:
        (note,) = server.notes
        assert server.client.search_runs([server.experiment_id]) == []
    assert "half made by a stop" in note
    assert "mlflow.db.half-made" in note
    assert (tmp_path / "mlflow.db.half-made").read_bytes() == before


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    database = tmp_path / "mlflow.db"
    half_made(database)
    with closing(sqlite3.connect(database)) as made:
        made.execute("create table letters (text)")
        made.execute("insert into letters values ('dear')")
        made.commit()
    before = database.read_bytes()
    with pytest.raises(TrackingError, match="is the database of another program"):
        make_whole(database)
    assert database.read_bytes() == before


def test_what_is_no_database_is_named_before_a_run(tmp_path: Path) -> None:
    check_store(tmp_path, None)
    (tmp_path / "mlflow.db").mkdir()
    with pytest.raises(ConfigError, match=r"mlflow\.db' is a folder, and no place for a database; move it"):
        check_store(tmp_path, None)
    with pytest.raises(TrackingError, match="is a folder"), opened(tmp_path, None):
        pytest.fail("it was opened")
    text = tmp_path / "notes.txt"
    text.write_text("no database")
    with pytest.raises(ConfigError, match=r"notes\.txt' is no SQLite database; set MLFLOW_TRACKING_URI"):
        check_store(tmp_path, f"sqlite:///{text}")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ConfigError, match="pipe' is no file"):
        check_store(tmp_path, f"sqlite:///{pipe}")


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("postgresql+pg8000://me:secret@db/mlflow", "its driver is not installed .*pip install pg8000"),
        ("postgresql://me:secret@db:99999/mlflow", "no address of a database"),
        ("postgresql://me:secret@db:x/mlflow", "no address of a database"),
        ("mysql+nothing://me:secret@db/mlflow", "its driver cannot be used"),
        ("http://me:secret@127.0.0.1:99999", "is no address: write http://HOST:PORT"),
        ("http://me:secret@127.0.0.1:port", "is no address: write http://HOST:PORT"),
        ("https://me:secret@[::1", "is no address: write http://HOST:PORT"),
        ("redis://me:secret@db", "of no kind of store that MLflow knows"),
    ],
)
def test_an_address_that_can_never_work_is_refused_without_its_password(uri: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=said) as refused:
        check_store(tmp_path, uri)
    with pytest.raises(TrackingError, match=said) as missed, opened(tmp_path, uri):
        pytest.fail("it was opened")
    assert "secret" not in f"{refused.value} {missed.value}"
    assert names_in(tmp_path) == []


def test_addresses_that_may_work_are_not_asked(tmp_path: Path) -> None:
    for uri in (
        "http://127.0.0.1:9",
        "https://me:secret@h",
        "databricks",
        "databricks://profile",
        "file:///tmp/x",
        "x",
    ):
        check_store(tmp_path, uri)
