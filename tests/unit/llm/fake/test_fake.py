from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arena.config import LLMSettings
from arena.errors import ModelSetupError
from arena.llm.fake.chat import Playback
from arena.llm.fake.script import Rule, Script, read_script
from tests.unit.llm.asking import ask, scripted


def said(folder: Path, script: dict[str, Any], times: int = 1) -> list[str | None]:
    return [reply.text for reply in ask(scripted(folder, script), times=times)]


def test_the_first_rule_that_applies_is_played(tmp_path: Path) -> None:
    rules = [{"when": "nothing like it", "reply": "no"}, {"when": "^hello", "reply": "yes"}, {"reply": "too late"}]
    assert said(tmp_path, {"rules": rules}) == ["yes"]


def test_a_rule_with_times_is_used_up(tmp_path: Path) -> None:
    script = {"rules": [{"reply": "twice", "times": 2}, {"reply": "then"}]}
    assert said(tmp_path, script, times=4) == ["twice", "twice", "then", "then"]


def test_replies_are_used_in_order_where_no_rule_applies(tmp_path: Path) -> None:
    script = {"rules": [{"reply": "rule", "times": 1}], "replies": ["a", "b"]}
    assert said(tmp_path, script, times=4) == ["rule", "a", "b", None]


def test_what_the_script_leaves_open_is_answered_by_the_built_in_rules(tmp_path: Path) -> None:
    assert said(tmp_path, {"rules": [{"when": "zebra", "reply": "no"}]}) == ["I don't know"]


def test_a_rule_sets_its_own_latency() -> None:
    playback = Playback(Script(latency_seconds=2.0))
    assert playback.latency_seconds(None) == 2.0
    assert playback.latency_seconds(Rule(reply="x")) == 2.0
    assert playback.latency_seconds(Rule(reply="x", latency_seconds=0.0)) == 0.0


def test_yaml_and_json_say_the_same(tmp_path: Path) -> None:
    yaml_file, json_file = tmp_path / "s.yaml", tmp_path / "s.json"
    yaml_file.write_text("rules:\n  - when: a.b\n    error: timeout\nreplies: [x, 'y']\n", encoding="utf-8")
    json_file.write_text('{"rules": [{"when": "a.b", "error": "timeout"}], "replies": ["x", "y"]}', encoding="utf-8")
    assert read_script(yaml_file) == read_script(json_file)


def test_an_empty_script_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("", encoding="utf-8")
    assert read_script(tmp_path / "s.yaml") == Script()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("rules: [", "is not YAML"),
        ("- a list", "the file"),
        ("rulez: []", "rulez"),
        ("replies: 3", "replies"),
        ("latency_seconds: -1", "latency_seconds"),
        ("rules: [{when: '('}]", r"rules\.0\.when: no regular expression"),
        ("rules: [{reply: a, error: 500}]", r"rules\.0: exactly one of 'reply' and 'error'"),
        ("rules: [{when: a}]", r"rules\.0: exactly one"),
        ("rules: [{reply: a}, {error: 200}]", r"rules\.1\.error"),
        ("rules: [{error: flood}]", r"rules\.0\.error"),
        ("rules: [{reply: a, times: 0}]", r"rules\.0\.times"),
        ("rules: [{reply: a, role: judge}]", r"rules\.0\.role"),
        ("rules: [{probabilities: {}}]", r"rules\.0\.probabilities: needs single words"),
        ("rules: [{probabilities: {a b: 0.5}}]", r"rules\.0\.probabilities: needs single words"),
        ("rules: [{probabilities: {a: 0.0}}]", r"rules\.0\.probabilities: needs single words"),
        ("rules: [{probabilities: {a: 0.7, b: 0.7}}]", r"rules\.0\.probabilities: .* more than 1"),
        ("rules: [{probabilities: {a: 1}, error: 500}]", r"rules\.0: exactly one"),
        ("rules: [{probabilities: {a: 1}, reply: b}]", r"rules\.0: 'probabilities' lack the first word of 'reply'"),
    ],
)
def test_a_malformed_script_names_file_and_field(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ModelSetupError, match=rf"broken\.yaml.*{told}"):
        ask(LLMSettings(model=f"fake:{path}"))


@pytest.mark.parametrize(("name", "told"), [("absent.yaml", "no fake script"), ("", "cannot read")])
def test_a_script_that_cannot_be_read_is_named(tmp_path: Path, name: str, told: str) -> None:
    with pytest.raises(ModelSetupError, match=told):
        ask(LLMSettings(model=f"fake:{tmp_path / name}"))


def test_a_script_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bytes.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ModelSetupError, match=r"bytes\.yaml"):
        read_script(path)
