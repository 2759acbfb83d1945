"""Files are told by their content: packed ones are read, and what is no data is named."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from arena.datasets import load_dataset
from arena.datasets.hotpot import load_hotpotqa, load_two_wiki
from arena.datasets.jsonl import load_jsonl
from arena.datasets.records import read_records
from arena.errors import DatasetError
from tests.unit.datasets.hotpot_files import hotpot_record, two_wiki_record

RECORDS: list[dict[str, Any]] = [{"id": "007", "n": 1, "facts": ["a"]}, {"id": "8", "n": None, "facts": []}]
LINES = "".join(json.dumps(one) + "\n" for one in RECORDS).encode()


def zipped(content: bytes, *names: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names or ("data.jsonl",):
            archive.writestr(name, content)
    return packed.getvalue()


def table(records: list[dict[str, Any]]) -> bytes:
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.Table.from_pylist(records), sink)
    return bytes(sink.getvalue())


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "as it is": bytes,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda content: bytes(pa.compress(content, codec="zstd", asbytes=True)),
    "zip": zipped,
    "gzip of a zip": lambda content: gzip.compress(zipped(content)),
}
CONTENTS = {"lines": LINES, "array": json.dumps(RECORDS, indent=1).encode(), "table": table(RECORDS)}


def fields_of(path: Path) -> list[Any]:
    return [row.fields for row in read_records(path)]


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("content", CONTENTS)
def test_every_form_in_every_packing_gives_the_same_records(tmp_path: Path, packing: str, content: str) -> None:
    path = tmp_path / "data"
    path.write_bytes(PACKINGS[packing](CONTENTS[content]))
    assert fields_of(path) == RECORDS


@pytest.mark.parametrize("packing", ["as it is", "gzip", "zip"])
@pytest.mark.parametrize("content", CONTENTS)
def test_a_pipe_is_read_once_and_whole(tmp_path: Path, packing: str, content: str) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write() -> None:
        with pipe.open("wb", buffering=0) as stream:
            packed = PACKINGS[packing](CONTENTS[content])
            for start in range(0, len(packed), 7):
                stream.write(packed[start : start + 7])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert fields_of(pipe) == RECORDS
    finally:
        writer.join()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12\n",
            "is a Git LFS pointer, not the data it stands for; fetch them: git lfs pull",
        ),
        (
            b"\n<!DOCTYPE html><html><head><title> Sign\n in </title></head></html>",
            "is a web page ('Sign in') saved under the name of the data",
        ),
        (b"<?xml version='1.0'?><Error/>", "is a web page saved under the name of the data"),
        ('{"a": 1}'.encode("utf-16"), "is UTF-16 text; save the file as UTF-8"),
        (b"%PDF-1.7\n", "is a PDF document"),
        (b"SQLite format 3\x00", "is an SQLite database"),
        (zipped(LINES, "train.jsonl", "dev.jsonl"), "is a zip archive of 2 files (train.jsonl, dev.jsonl); unpack it"),
        (gzip.compress(LINES, mtime=0)[:-9], "is packed, and damaged or cut short"),
        (gzip.compress(b"x" * 257 + b"ustar\x0000", mtime=0), "is a tar archive"),
        (table(RECORDS)[:-20], "is a damaged Parquet file"),
        (gzip.compress(gzip.compress(gzip.compress(gzip.compress(LINES)))), "is packed more than 3 times over"),
    ],
)
def test_what_is_no_data_is_named_for_what_it_is(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "data.jsonl"
    path.write_bytes(content)
    with pytest.raises(DatasetError) as caught:
        fields_of(path)
    assert str(caught.value).startswith(f"{path} {message}")


def test_musique_may_be_one_array(tmp_path: Path) -> None:
    paragraphs = [{"idx": 0, "title": "T", "paragraph_text": "Said.", "is_supporting": True}]
    record = {"id": "2hop__1_2", "question": "Who?", "answer": "Ilse", "paragraphs": paragraphs}
    (tmp_path / "array.json").write_text(json.dumps([record]), encoding="utf-8")
    (tmp_path / "lines.jsonl").write_text(json.dumps(record), encoding="utf-8")
    (tmp_path / "table.parquet").write_bytes(table([record]))
    read = [load_dataset(f"musique:{tmp_path / name}") for name in ("array.json", "lines.jsonl", "table.parquet")]
    assert len({one.fingerprint for one in read}) == 1


def in_columns(record: dict[str, Any]) -> dict[str, Any]:
    facts, context = record["supporting_facts"], record["context"]
    return record | {
        "id": record["_id"],
        "supporting_facts": {"title": [one for one, _ in facts], "sent_id": [one for _, one in facts]},
        "context": {"title": [one for one, _ in context], "sentences": [one for _, one in context]},
    }


def as_text(record: dict[str, Any]) -> dict[str, Any]:
    return record | {name: json.dumps(record[name]) for name in ("supporting_facts", "context")}


@pytest.mark.parametrize(("load", "record"), [(load_hotpotqa, hotpot_record()), (load_two_wiki, two_wiki_record())])
def test_the_hubs_column_form_is_the_official_dataset(tmp_path: Path, load: Any, record: dict[str, Any]) -> None:
    columns = in_columns(record)
    del columns["_id"]
    forms = [json.dumps([record]).encode(), json.dumps(columns).encode(), table([columns]), table([as_text(record)])]
    read = []
    for number, content in enumerate(forms):
        path = tmp_path / str(number)
        path.write_bytes(content)
        read.append(load(path).fingerprint)
    assert len(set(read)) == 1


def test_columns_of_unlike_length_are_named(tmp_path: Path) -> None:
    columns = in_columns(hotpot_record())
    columns["context"]["title"].pop()
    (tmp_path / "bad.jsonl").write_text(json.dumps(columns), encoding="utf-8")
    with pytest.raises(DatasetError, match=r"bad\.jsonl:1, context: 'title' has 3 members and 'sentences' 4"):
        load_hotpotqa(tmp_path / "bad.jsonl")


DOCUMENT = {"doc_id": "d", "text": "Tolm lies high."}
QUESTION = {"question_id": "q", "question": "Where?", "answers": ["high"], "supporting_ids": ["d"]}


def test_a_folder_may_hold_packed_files(tmp_path: Path) -> None:
    (tmp_path / "corpus.parquet").write_bytes(table([DOCUMENT]))
    (tmp_path / "questions.jsonl.gz").write_bytes(gzip.compress(json.dumps(QUESTION).encode()))
    assert len(load_jsonl(tmp_path).questions) == 1
    (tmp_path / "corpus.json").write_text("[]")
    with pytest.raises(DatasetError, match=r"holds corpus\.json, corpus\.parquet: keep one"):
        load_jsonl(tmp_path)


@pytest.mark.parametrize("hops", [-5, 101, 10**31])
def test_hops_are_a_number_a_path_can_have(tmp_path: Path, hops: int) -> None:
    (tmp_path / "corpus.jsonl").write_text(json.dumps(DOCUMENT))
    (tmp_path / "questions.jsonl").write_text(json.dumps(QUESTION | {"hops": hops}))
    with pytest.raises(DatasetError, match=r"questions\.jsonl:1: field 'hops' must be from 0 to 100, not "):
        load_jsonl(tmp_path)


def test_metadata_are_numbers_that_can_be_kept(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"doc_id": "d", "text": "T", "year": 1e999}')
    with pytest.raises(DatasetError, match=r"corpus\.jsonl:1: not JSON: 1e999 is larger than any number"):
        load_jsonl(tmp_path)
