from __future__ import annotations

from pathlib import Path

import pytest

from arena.datasets.hub import fetch
from arena.errors import DatasetError
from tests.unit.datasets.dataset_hub import COMMIT, hub_file, serving

CONTENT = b'{"id": "q"}\n' * 5000
FILE = hub_file("deep/dev.jsonl", CONTENT)
BY_HAND = "Place dev.jsonl by hand."
NOBODY = "http://127.0.0.1:9"


def test_a_file_is_fetched_once_and_then_asks_no_network(tmp_path: Path) -> None:
    with serving({FILE.path: CONTENT}) as hub:
        place = fetch(FILE, tmp_path, BY_HAND, endpoint=hub.url)
        assert place.read_bytes() == CONTENT
        assert f"/datasets/someone/questions/resolve/{COMMIT}/deep/dev.jsonl" in {path for _, path, _ in hub.asked}
    assert fetch(FILE, tmp_path, BY_HAND, endpoint=NOBODY) == place


def test_a_broken_download_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """The hub's client keeps what it has in blocks of ten MiB."""
    block, content = 10 << 20, bytes(12 << 20)
    large = hub_file("large.jsonl", content)
    with serving({large.path: content}) as hub:
        hub.at_most = block + 1000
        with pytest.raises(DatasetError, match=r"what arrived is kept, run again to go on\. Place dev\.jsonl by hand"):
            fetch(large, tmp_path, BY_HAND, endpoint=hub.url)
        hub.at_most, already = None, len(hub.asked)
        assert fetch(large, tmp_path, BY_HAND, endpoint=hub.url).stat().st_size == len(content)
        assert [span for method, _, span in hub.asked[already:] if method == "GET"] == [f"bytes={block}-"]


@pytest.mark.parametrize("changes", [{"sha256": "0" * 64}, {"size_bytes": 7}])
def test_another_file_than_the_pinned_one_is_refused_and_not_kept(
    tmp_path: Path, changes: dict[str, str | int]
) -> None:
    pinned = hub_file(FILE.path, CONTENT, **changes)
    with serving({FILE.path: CONTENT}) as hub, pytest.raises(DatasetError) as caught:
        fetch(pinned, tmp_path, BY_HAND, endpoint=hub.url)
    message = str(caught.value)
    assert f"has 60,000 bytes and SHA-256 {FILE.sha256}, but pinned is" in message
    assert "(made by a test): refused" in message
    assert message.endswith(BY_HAND)
    assert not [path for path in tmp_path.rglob("dev.jsonl")]


def test_a_file_changed_on_disk_is_fetched_anew(tmp_path: Path) -> None:
    with serving({FILE.path: CONTENT}) as hub:
        place = fetch(FILE, tmp_path, BY_HAND, endpoint=hub.url)
        place.write_bytes(CONTENT[:-1] + b" ")
        assert fetch(FILE, tmp_path, BY_HAND, endpoint=hub.url).read_bytes() == CONTENT


def test_a_commit_alone_can_pin(tmp_path: Path) -> None:
    pinned = hub_file(FILE.path, CONTENT, sha256=None, size_bytes=None)
    with serving({FILE.path: CONTENT}) as hub:
        place = fetch(pinned, tmp_path, BY_HAND, endpoint=hub.url)
    assert fetch(pinned, tmp_path, BY_HAND, endpoint=NOBODY) == place
    assert "SHA-256 not known" in pinned.note
    assert str(FILE.sha256)[:12] in FILE.note


def test_a_hub_that_does_not_answer_is_told_with_what_to_place(tmp_path: Path) -> None:
    with pytest.raises(DatasetError) as caught:
        fetch(FILE, tmp_path, BY_HAND, endpoint=NOBODY)
    assert str(caught.value) == (
        "cannot fetch 'deep/dev.jsonl' of the dataset 'someone/questions' from the hub: http://127.0.0.1:9 does not "
        "answer (ConnectionError). Place dev.jsonl by hand."
    )


def test_a_file_the_hub_lacks_is_named(tmp_path: Path) -> None:
    absent = r"cannot fetch 'deep/dev\.jsonl' .* from the hub: 404 Client Error"
    with serving({}) as hub, pytest.raises(DatasetError, match=absent):
        fetch(FILE, tmp_path, BY_HAND, endpoint=hub.url)
