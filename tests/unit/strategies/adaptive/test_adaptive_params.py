from __future__ import annotations

from pathlib import Path

import pytest

from arena.errors import ConfigError
from strategies import find_variant
from strategies.adaptive import ADAPTIVE
from strategies.adaptive.graph import classifier_prompt
from strategies.adaptive.params import read_labels


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("adaptive:policy=always_d", "'policy' is 'always_d'"),
        ("adaptive:policy=oracle", "policy oracle needs oracle_labels=FILE"),
        ("adaptive:cost_bias=-1", "'cost_bias' is -1"),
        ("adaptive:cost_bias=1:judge=labels", "cost_bias needs judge=probabilities"),
        ("adaptive:max_sentence=3", "did you mean 'max_sentences'"),
        ("ircot:max_passages=0", "'max_passages' is 0"),
        ("ircot:max_passages=3:max_passages=4", "sets 'max_passages' twice"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(entry: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        find_variant(entry)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read"),
        ("{", "is no JSON"),
        ("[]", "holds a list, not an object"),
        ('{"Who?": "D"}', "the label of 'Who\\?' is 'D'"),
        ('{"Who?": ["A"]}', "the label of 'Who\\?' is \\['A'\\]"),
        (b"\xff\xfe\x00", "is no JSON"),
    ],
)
def test_labels_that_cannot_be_read_stop_the_run_before_it_begins(
    tmp_path: Path, content: str | bytes | None, said: str
) -> None:
    file = tmp_path / "labels.json"
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ConfigError, match=said):
        find_variant(f"adaptive:policy=oracle:oracle_labels={file}").build()
    with pytest.raises(ConfigError, match=said):  # a run's identity is made before anything is embedded
        find_variant(f"adaptive:policy=oracle:oracle_labels={file}").settings["oracle_labels_sha"]


def test_labels_are_part_of_what_a_variant_is(tmp_path: Path) -> None:
    file = tmp_path / "labels.json"
    variant = find_variant(f"adaptive:policy=oracle:oracle_labels={file}")
    file.write_text('{"Who?": "A"}')
    before = variant.settings
    file.write_text('{"Who?": "C"}')
    assert before["oracle_labels_sha"] != variant.settings["oracle_labels_sha"]
    assert read_labels(file)[0] == {"Who?": "C"}
    assert "oracle_labels_sha" not in find_variant("adaptive").settings


def test_the_prompt_shows_each_label_twice_and_ends_with_the_choice() -> None:
    system, *turns = classifier_prompt("Who?")
    assert sorted(turn.content for turn in turns if turn.role == "assistant") == ["A", "A", "B", "B", "C", "C"]
    assert turns[-1].content.splitlines() == ["Question: Who?", "Reply with one of: A, B, C"]
    assert [line[:2] for line in system.content.splitlines()[1:]] == ["A:", "B:", "C:"]


@pytest.mark.parametrize("name", ["ircot", "adaptive"])
def test_the_card_gives_a_reason_for_every_clause(name: str) -> None:
    card = find_variant(name).spec.fidelity
    assert card is not None
    assert "arXiv" in card.paper
    assert all(clause.says.endswith(".") and clause.how for clause in card.clauses)
    assert {"implemented", "adapted", "left out"} == {clause.status for clause in card.clauses}


def test_its_prompts_and_those_of_its_loop_identify_it() -> None:
    assert any("one of: A, B, C" in text for text in ADAPTIVE.prompts)
    assert any("Next sentence:" in text for text in ADAPTIVE.prompts)
