from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from arena.config import LLMSettings, RunConfig, api_key, fingerprint, load_config, validate_config
from arena.config.loading import parse_settings
from arena.errors import ConfigError, content_problems

OUT_OF_RANGE = {"max_length": 0, "batch_size": -1, "dtype": "int8", "devices": []}
"""Of what an embedding model and a reranker are both told."""


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"datset": "world"}, "unknown setting 'datset': did you mean 'dataset'?"),
        ({"llm": {"modle": "x"}}, "unknown setting 'llm.modle': did you mean 'model'?"),
        ({"sample": {"zzz": 1}}, "known are balance, ids, limit, model_limit, part"),
        ({"concurrency": 0}, "'concurrency' is 0"),
        ({"concurrency": 100_000_000}, "less than or equal to 4096"),
        ({"llm": {"concurrency": 100_000_000}}, "less than or equal to 4096"),
        ({"judge": {"llm": {"concurrency": 100_000_000}}}, "less than or equal to 4096"),
        ({"retrieval": {"k": 9, "depth": 3}}, "depth 3 is smaller than k 9"),
        ({"strategies": []}, "strategies is empty"),
        ({"modes": ["dense", "dense"]}, "modes lists dense more than once"),
        ({"llm": 3}, "'llm' is 3"),
        ({"llm": {"base_url": "http://[h/v1"}}, "base_url is no address"),
        ({"seed": -5}, "'seed' is -5"),
        ({"strategies": "vanilla"}, "'strategies' is 'vanilla': write a list, as in [vanilla]"),
        ({"judge": {"repeats": 3}}, "'judge.llm' is missing"),
        ({"sample": {"ids": []}}, "'sample.ids' is empty: name at least one, or leave it out"),
        ({"index": {"url": "http://127.0.0.1:6333"}}, "url and path are for engine 'server'"),
        ({"retrieval": {"fusion": "dbsf", "lane_weights": [1, 2]}}, "lane_weights are for fusion 'rrf'"),
        ({"retrieval": {"lane_weights": [0, 1]}}, "must both be above 0"),
        *(({"embedding": {name: value}}, f"'embedding.{name}' is") for name, value in OUT_OF_RANGE.items()),
        *(({"rerank": {name: value}}, f"'rerank.{name}' is") for name, value in OUT_OF_RANGE.items()),
        ({"embedding": {"pooling": "max"}}, "'embedding.pooling' is 'max'"),
        ({"embedding": {"distance": "l2"}}, "'embedding.distance' is 'l2'"),
        ({"chunking": {"tokens": 8, "overlap": 8}}, "overlap 8 needs tokens greater than itself"),
        *(
            ({"rerank": {"threshold": value}}, "is no threshold: write default, a number, or")
            for value in (float("nan"), "high", None, True, {"value": 0.2}, {"value": 0.2, "for": "x"})
        ),
        *(({"run_id": name}, "'run_id'") for name in ("..", ".", "a/b", "/abs", "", "x" * 101, "a\nb", "-x")),
    ],
)
def test_a_bad_setting_names_itself_and_what_was_meant(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        validate_config(values, "study.yaml")
    assert message in str(caught.value)
    assert str(caught.value).startswith("study.yaml: ")


def test_a_member_that_is_refused_is_told_once() -> None:
    with pytest.raises(ConfigError) as caught:
        validate_config({"judge": {"llm": {"model": "fake:"}, "metrics": ["faithful"]}}, "study.yaml")
    assert "'judge.metrics.0' is 'faithful': input should be 'answer_accuracy'" in str(caught.value)
    assert str(caught.value).count("judge.metrics") == 1


@pytest.mark.parametrize(
    "base_url", ["http://me:canary@h/v1", "http://canary@h/v1", "http://h/v1?key=canary", "http://h/v1#canary"]
)
def test_a_key_in_an_address_is_refused_and_not_repeated(base_url: str) -> None:
    with pytest.raises(ConfigError, match=r"base_url of host 'h' .* api_key_variable") as caught:
        validate_config({"llm": {"base_url": base_url}}, "study.yaml")
    assert "canary" not in str(caught.value)
    with pytest.raises(ValidationError) as direct:
        LLMSettings(base_url=base_url)
    assert "canary" not in str(direct.value)


def test_options_go_over_the_file_key_by_key(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text("dataset: jsonl:mine\nllm: {model: 'openai:gpt-x', max_tokens: 9}\n")
    config = load_config(path, {"llm": {"model": "fake:"}, "seed": 4})
    assert (config.dataset, config.llm.model, config.llm.max_tokens, config.seed) == ("jsonl:mine", "fake:", 9, 4)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no config file"),
        ("a: [", "is not YAML"),
        ("- a\n- b\n", "must be a mapping"),
        (b"\xff\xfe\x00", "cannot read"),
    ],
)
def test_an_unreadable_file_is_named(tmp_path: Path, content: str | bytes | None, message: str) -> None:
    path = tmp_path / "study.yaml"
    if isinstance(content, str):
        path.write_text(content)
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        load_config(path, {})


def test_identity_changes_with_what_can_change_a_result_and_with_nothing_else() -> None:
    base = RunConfig()

    def identity(**changes: Any) -> str:
        return fingerprint("run", base.model_copy(update=changes).fingerprint_fields())

    assert identity() == identity(runs_dir=Path("elsewhere"), run_id="x", concurrency=1, mlflow=False)
    changed = [
        identity(),
        identity(seed=1),
        identity(dataset="other"),
        identity(modes=("dense",)),
        identity(llm=LLMSettings(model="fake:")),
        identity(llm=LLMSettings(base_url="http://127.0.0.1:1/v1")),
        identity(llm=LLMSettings(temperature=0.5)),
    ]
    assert len(set(changed)) == len(changed)
    assert identity() == identity(llm=LLMSettings(timeout_seconds=1.0, max_attempts=1, concurrency=3))


def test_a_key_comes_from_the_providers_variable_or_the_named_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k1")
    monkeypatch.setenv("MY_KEY", "k2")
    assert api_key(LLMSettings(model="openai:gpt-x")) == ("OPENAI_API_KEY", "k1")
    assert api_key(LLMSettings(model="openai:gpt-x", api_key_variable="MY_KEY")) == ("MY_KEY", "k2")
    assert api_key(LLMSettings(model="anthropic:claude-x")) == ("ANTHROPIC_API_KEY", None)


@pytest.mark.parametrize("threshold", ["default", 0.2, {"value": 0.2, "reranker": "bge-reranker-v2-m3"}])
def test_a_threshold_survives_the_manifest(threshold: object) -> None:
    config = validate_config({"rerank": {"threshold": threshold}}, "x")
    assert validate_config(config.model_dump(mode="json"), "x") == config


def test_settings_of_the_command_line_are_nested_and_typed() -> None:
    given = parse_settings(["sample.limit=50", "sample.ids=[q1, q2]", "health_check=false", "seed=3"])
    assert given == {"sample": {"limit": 50, "ids": ["q1", "q2"]}, "health_check": False, "seed": 3}


@pytest.mark.parametrize("text", ["limit", "=3", "sample.=3", "sample..limit=3", "seed=[1"])
def test_what_is_no_setting_is_refused_by_its_text(text: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(repr(text))):
        parse_settings([text])


def test_an_empty_file_is_no_config(tmp_path: Path) -> None:
    (tmp_path / "empty.yaml").write_text("# nothing yet\n")
    with pytest.raises(ConfigError, match="holds no settings: write some, or leave the file out"):
        load_config(tmp_path / "empty.yaml", {})


def test_a_list_is_called_one() -> None:
    class Line(BaseModel):
        names: tuple[str, ...]

    with pytest.raises(ValidationError) as refused:
        Line.model_validate({"names": "aldermere"})
    assert content_problems(refused.value, "the line") == "names: Input should be a valid list"
