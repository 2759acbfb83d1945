from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from arena.config import LLMSettings
from arena.errors import ModelSetupError
from arena.llm.local import local_file
from arena.llm.opening import open_model
from tests.unit.llm.asking import no_weights


def open_and_close(model: str) -> None:
    async def run() -> None:
        async with open_model(LLMSettings(model=model), weights=no_weights):
            pass

    anyio.run(run)


def test_a_path_is_taken_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "m.GGUF"
    path.write_bytes(b"GGUF and more")
    assert local_file(str(path), no_weights) == path


def test_a_name_is_looked_up(tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_bytes(b"GGUF")
    assert local_file("smollm2-135m", {"smollm2-135m": path}.__getitem__) == path


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelSetupError, match=r"absent\.gguf.*No such file.*check the path"):
        open_and_close(f"local:{tmp_path / 'absent.gguf'}")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    folder = tmp_path / "folder.gguf"
    folder.mkdir()
    with pytest.raises(ModelSetupError, match=r"folder\.gguf"):
        open_and_close(f"local:{folder}")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04zip"])
def test_another_format_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelSetupError, match=r"model\.gguf' is no GGUF file"):
        open_and_close(f"local:{path}")


def test_a_file_cut_short_is_refused_without_noise(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "short.gguf"
    path.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ModelSetupError, match=r"cannot load.*short\.gguf.*cut short"):
        open_and_close(f"local:{path}")
    assert capfd.readouterr() == ("", "")
