from __future__ import annotations

import pytest

from arena.llm.parameters import Parameters, Unsupported, read_unsupported

SENT = Parameters(
    temperature=0.0,
    top_p=0.9,
    seed=0,
    max_tokens=256,
    stop=("\n",),
    alternatives=20,
    form="json_schema",
    special_tokens=True,
)


class ParameterError(Exception):
    """What OpenAI's package raises, as far as we look at it."""

    def __init__(self, message: str, param: str | None) -> None:
        super().__init__(message)
        self.param = param


def refused(message: str, param: str | None = None, sent: Parameters = SENT, *, by_server: bool = True) -> str | None:
    found = read_unsupported([ParameterError(message, param)], sent, refused_by_server=by_server)
    return None if found is None else found.name


@pytest.mark.parametrize(
    ("message", "param", "name"),
    [
        ("Unsupported value: 'temperature' does not support 0.0 with this model.", "temperature", "temperature"),
        ("`temperature` is deprecated for this model.", None, "temperature"),
        ("`temperature` and `top_p` cannot both be specified for this model.", None, "top_p"),
        ("`temperature` may only be set to 1 when thinking is enabled.", None, "temperature"),
        ("invalid temperature: only 1 is allowed for this model", None, "temperature"),
        ("Unsupported parameter: 'top_p' is not supported with this model.", "top_p", "top_p"),
        ("Unsupported parameter: 'max_tokens' ... Use 'max_completion_tokens' instead.", "max_tokens", "max_tokens"),
        (
            "[{'type': 'extra_forbidden', 'loc': ['body', 'seed'], 'msg': 'Extra inputs are not permitted'}]",
            None,
            "seed",
        ),
        ("Error response 422: extra_forbidden body random_seed", None, "seed"),
        ("Unsupported parameter: 'stop' is not supported with this model.", "stop", "stop"),
        ("stop_sequences: unknown field", None, "stop"),
        ("Unrecognized request argument supplied: logprobs", None, "logprobs"),
        ("Logprobs is not enabled for models/some-model", None, "logprobs"),
        ("This model does not support the following parameters: top_logprobs, top_p", None, "logprobs"),
        (
            "Invalid schema for response_format 'x': 'additionalProperties' is required",
            "response_format",
            "json_schema",
        ),
        ("This model does not support structured outputs", None, "json_schema"),
        ("'messages' must contain the word 'json' to use 'response_format'", "messages", "json_schema"),
        ("unknown field skip_special_tokens", None, "special_tokens"),
    ],
)
def test_a_refused_parameter_is_named(message: str, param: str | None, name: str) -> None:
    assert refused(message, param) == name


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ("This model's maximum context length is 8192 tokens. Reduce the messages or max_tokens.", "messages"),
        ("max_tokens is too large: 5000. This model supports at most 4096 completion tokens.", "max_tokens"),
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", None),
        ("temperature must be in the range 0 to 1", None),
        ("the prompt is not allowed by our content policy", "prompt"),
        ("the prompt 'what is the temperature?' is not allowed by our content policy", "messages"),
        ("unsupported: image input", None),
        ("the server does not support bus stops", None),
        ("", None),
    ],
)
def test_a_complaint_about_something_else_is_none(message: str, param: str | None) -> None:
    assert refused(message, param) is None


def test_what_was_not_sent_was_not_refused() -> None:
    assert refused("'temperature' is not supported", sent=Parameters(top_p=0.9)) is None


def test_a_package_that_raises_must_say_that_it_refuses() -> None:
    assert refused("create() got an unexpected keyword argument 'logprobs'", by_server=False) == "logprobs"
    assert refused("Response missing 'choices' key: ['logprobs']", by_server=False) is None


@pytest.mark.parametrize(
    ("message", "most"),
    [
        ("Invalid value for 'top_logprobs': must be less than or equal to 5.", 5),
        ("5 is greater than the maximum of 1 - 'logprobs'", 5),
        ("Requested sample logprobs of 20, which is greater than max allowed: 8", 8),
        ("top_logprobs must be between 0 and 5", 5),
        ("logprobs are not supported", None),
        ("HTTP 400 (code 400): logprobs 0.5 no", None),
    ],
)
def test_the_stated_bound_of_alternatives_is_read(message: str, most: int | None) -> None:
    found = read_unsupported([ValueError(message)], SENT, refused_by_server=True)
    assert found == Unsupported("logprobs", most)


def test_the_first_cause_counts_too() -> None:
    links = [RuntimeError("request failed"), ValueError("seed is not supported")]
    assert read_unsupported(links, SENT, refused_by_server=True) == Unsupported("seed")
