"""One reader for all YAML: what the library lets pass is refused, wherever it is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.config import load_config
from arena.config.loading import parse_settings
from arena.errors import ConfigError, UserError
from arena.files import parse_yaml
from arena.llm.fake.script import read_script
from experiments.studies.gate.policy import read_policy
from experiments.studies.sweep.config import load_sweep
from strategies import find_variant

ROOT = Path(__file__).parents[2]
READERS: dict[str, Callable[[Path], Any]] = {
    "config": lambda path: load_config(path, {}),
    "sweep": load_sweep,
    "policy": read_policy,
    "fake script": read_script,
}
BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{below}'] * 10)}]\n" for below, name in zip("abcdefg", "bcdefgh", strict=True)
)
REFUSED = [
    ("seed: 1\ndataset: world\nseed: 2\n", "the key 'seed' is given twice, at line 1 and at line 3"),
    ('{"llm": {"model": "fake:",\n "model": "x"}}', "the key 'model' is given twice, at line 1 and at line 2"),
    ("prices:\n  a: {1: x, 0x1: y}\n", "the key 1 is given twice, at line 2 and at line 2"),
    (BOMB, r"its aliases \(\*NAME\) add [0-9,]+ values to the [0-9]+ written"),
    ("a: &a [1, *a]\n", "the alias to line 1 stands inside what it stands for"),
    ("a: " + "[" * 3000, "line 1 is nested more than 100 levels deep"),
    ("".join(f"a{n + 1}: &a{n + 1} [*a{n}]\n" if n else "a1: &a1 [1]\n" for n in range(300)), "levels deep"),
    ("seed: " + "9" * 5000, "line 1: an integer of more than 4,300 digits"),
    ("seed: 2024-13-45", "line 1: month must be in 1..12"),
    ("a: b: c", "is not YAML"),
]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_every_file_is_held_to_the_same(tmp_path: Path, reader: str, text: str, message: str) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=message) as caught:
        READERS[reader](path)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 600


def test_values_on_the_command_line_are_held_to_the_same() -> None:
    with pytest.raises(ConfigError, match="the key 'a' is given twice"):
        parse_settings(["llm={a: 1, a: 2}"])
    with pytest.raises(ConfigError, match="cannot be read"):
        find_variant("vanilla:k=" + "9" * 5000)


def test_a_long_wrong_value_is_not_printed_whole(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("seed: [" + "1, " * 5000 + "1]", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path / "a.yaml", {})
    assert len(str(caught.value)) < 600


def test_no_other_module_loads_yaml() -> None:
    sources = (
        path for name in ("arena", "strategies", "indexing", "experiments") for path in (ROOT / name).rglob("*.py")
    )
    loading = {
        path.relative_to(ROOT).as_posix()
        for path in sources
        if "yaml.load(" in (text := path.read_text()) or "safe_load" in text or "SafeLoader" in text
    }
    assert loading == {"arena/files.py"}


def test_anchors_and_merges_are_read_as_ever() -> None:
    text = "base: &base {a: 1, b: 2}\nover: &over {<<: *base, b: 3}\nmore: {<<: *over, a: 4}\nlist: [*base, *base]\n"
    assert parse_yaml(text) == yaml.safe_load(text)
    assert parse_yaml("") is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=60)
@given(VALUES)
def test_what_the_library_writes_is_read_as_it_reads_it(value: Any) -> None:
    text = yaml.safe_dump(value, allow_unicode=True)
    assert parse_yaml(text) == yaml.safe_load(text)
