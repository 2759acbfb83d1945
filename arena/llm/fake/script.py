"""Scripts of the fake model: what it replies, and which faults it plays.

    latency_seconds: 0.05            # of every call that sets none of its own
    rules:                           # the first that applies is played
      - when: "born in"              # regular expression, searched in the whole prompt; left out = always
        reply: "Paris"
      - when: "relevant"
        probabilities: {"yes": 0.8, "no": 0.1}   # of the first word; the likeliest is replied where `reply` is left out
      - when: "mayor"
        error: 429                   # an HTTP status from 400 to 599, `timeout` or `reset`
        message: "slow down"         # what the error says
        retry_after_seconds: 2
        times: 1                     # plays once, then no longer applies
      - when: "river"
        reply: "Tarn"
        usage: false                 # the reply comes without token counts
        latency_seconds: 1
    replies: ["first", "second"]     # used up in order by calls that no rule applies to
    faults:                          # shares of all calls that meet a fault, whatever the rules say
      rate_limit: 0.05               # all of them, and what they do: `FaultRates`
      rate_limit_retry_after: 0.02
      retry_after_seconds: 0.01
      no_usage: 0.02
    seed: 7                          # of the faults; which call meets which is the same at any concurrency
    tally: "asked.jsonl"             # beside the script: every request, as it is answered

A call that neither covers is answered by built-in rules: what ragas asks a judge by the words that texts share
(`arena.llm.fake.judging`), any other form with the smallest one that its schema allows, a judgement by the words it
shares with the passages (`arena.llm.fake.replies`), all else with a few words of a passage. With `replies` used up it
fails. A call that meets a 429, a 500, a timeout or a broken connection from `faults` uses up neither a rule nor a
reply. The file is YAML (where "yes" and "no" need their quotes) or JSON.

A fault is drawn from the seed, the prompt, the parameters and how often this very call was asked before, so that it is
the same at any concurrency and in any order, and a call that is asked again may pass.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import httpx
from pydantic import Field, ValidationError, field_validator, model_validator

from arena.config import Settings
from arena.errors import ModelSetupError, content_problems
from arena.files import read_yaml_file

REFUSAL = "Sorry, this is nothing I may help with."

# Where the fake would be, were it a server; nothing is sent there.
_REQUEST = httpx.Request("POST", "http://fake.invalid/v1/chat/completions")
_Rate = Field(default=0.0, ge=0.0, le=1.0)


class FaultRates(Settings):
    """Shares in [0, 1] of all calls, together at most 1. Each call meets one fault at most.

    `rate_limit`, `rate_limit_retry_after`: status 429, without and with Retry-After (of `retry_after_seconds`).
    `server_error`: status 500. `timeout`: a read timeout, at once. `reset`: the connection breaks. `truncated`: half
    of the words, as if the token bound cut the reply. `malformed_json`: a form lacks its end; where none is asked for,
    the response itself is no JSON. `empty`: a reply of no words. `no_usage`: a good reply without token counts.
    `refusal`: the model says that it will not.
    """

    rate_limit: float = _Rate
    rate_limit_retry_after: float = _Rate
    server_error: float = _Rate
    timeout: float = _Rate
    reset: float = _Rate
    truncated: float = _Rate
    malformed_json: float = _Rate
    empty: float = _Rate
    no_usage: float = _Rate
    refusal: float = _Rate
    retry_after_seconds: float = Field(default=1.0, ge=0.0)

    @model_validator(mode="after")
    def _leaves_no_share_below_zero(self) -> FaultRates:
        if sum(self.shares().values()) > 1.0 + 1e-9:
            raise ValueError("the rates add up to more than 1")
        return self

    def shares(self) -> dict[str, float]:
        """Fault -> rate, in the order of `FAULTS`."""
        return {name: getattr(self, name) for name in FAULTS}


FAULTS = tuple(name for name in FaultRates.model_fields if name != "retry_after_seconds")


class FaultDraw:
    """Which call meets which fault."""

    def __init__(self, rates: FaultRates, seed: int) -> None:
        self._shares = {name: share for name, share in rates.shares().items() if share}
        self._seed = seed
        self._asked: Counter[str] = Counter()

    @property
    def any(self) -> bool:
        """Whether any call can meet a fault."""
        return bool(self._shares)

    def draw(self, call: str) -> str | None:
        """The fault of this asking of `call`, which identifies its prompt and parameters; None = none."""
        self._asked[call] += 1
        point = _uniform(self._seed, call, self._asked[call])
        for name, share in self._shares.items():
            point -= share
            if point < 0.0:
                return name
        return None


def scripted_error(error: int | str, message: str, retry_after_seconds: float | None) -> httpx.HTTPError:
    """What a provider's package raises: for a status, for `timeout` or for `reset`."""
    if error == "timeout":
        return httpx.ReadTimeout(message, request=_REQUEST)
    if error == "reset":
        return httpx.ReadError(message, request=_REQUEST)
    headers = {} if retry_after_seconds is None else {"retry-after": f"{retry_after_seconds:g}"}
    response = httpx.Response(int(error), headers=headers, request=_REQUEST)
    return httpx.HTTPStatusError(message, request=_REQUEST, response=response)


def drawn_error(fault: str | None, rates: FaultRates, *, form: bool) -> Exception | None:
    """What is raised for `fault`; None = there is a reply, good or bad. `form`: the reply was to be JSON."""
    match fault:
        case "rate_limit":
            return scripted_error(429, "too many requests", None)
        case "rate_limit_retry_after":
            return scripted_error(429, "too many requests", rates.retry_after_seconds)
        case "server_error":
            return scripted_error(500, "internal error", None)
        case "timeout" | "reset":
            return scripted_error(fault, "played by the script", None)
        case "malformed_json" if not form:
            return json.JSONDecodeError("the response breaks off", '{"choices": [', 13)
    return None


def costs_nothing(error: Exception) -> bool:
    """Whether the request was refused. Behind a gateway that did not wait, a reply may have been written."""
    return isinstance(error, httpx.HTTPStatusError) and error.response.status_code not in (504, 524)


def _uniform(seed: int, call: str, nth: int) -> float:
    """A number in [0, 1) that no other draw has a part in."""
    digest = hashlib.sha256(f"{seed}\0{call}\0{nth}".encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56


MAX_STATUS = 599
MIN_STATUS = 400


class Rule(Settings):
    """One scripted reaction: a reply or an error. `probabilities` are those of its first word, sum at most 1."""

    when: str | None = None
    reply: str | None = None
    probabilities: Mapping[str, float] | None = None
    error: int | Literal["timeout", "reset"] | None = None
    message: str = "scripted error"
    retry_after_seconds: float | None = Field(default=None, ge=0)
    latency_seconds: float | None = Field(default=None, ge=0)
    times: int | None = Field(default=None, ge=1)
    usage: bool = True

    @property
    def text(self) -> str | None:
        """What is replied; None = it is an error."""
        if self.reply is None and self.probabilities:
            return max(self.probabilities, key=self.probabilities.__getitem__)
        return self.reply

    @field_validator("when")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        try:
            re.compile(value or "")
        except re.error as error:
            raise ValueError(f"no regular expression: {error}") from None
        return value

    @field_validator("error")
    @classmethod
    def _is_an_error_status(cls, value: int | str | None) -> int | str | None:
        if isinstance(value, int) and not MIN_STATUS <= value <= MAX_STATUS:
            raise ValueError(f"a status of an error lies in {MIN_STATUS}..{MAX_STATUS}")
        return value

    @field_validator("probabilities")
    @classmethod
    def _are_of_words(cls, value: Mapping[str, float] | None) -> Mapping[str, float] | None:
        if value is None:
            return None
        if not value or any(len(word.split()) != 1 or not 0.0 < share <= 1.0 for word, share in value.items()):
            raise ValueError("needs single words, each with a probability above 0 and up to 1")
        if sum(value.values()) > 1.0 + 1e-9:
            raise ValueError("the probabilities add up to more than 1")
        return value

    @model_validator(mode="after")
    def _reacts_in_one_way(self) -> Rule:
        if (self.text is None) == (self.error is None):
            raise ValueError("exactly one of 'reply' and 'error' is needed ('probabilities' can stand for a reply)")
        if self.reply is not None and self.probabilities and not {*self.reply.split()[:1]} & {*self.probabilities}:
            raise ValueError("'probabilities' lack the first word of 'reply'")
        return self


class Script(Settings):
    """A whole script; empty = every call is answered by the built-in rules. `tally`: a file that is added to."""

    latency_seconds: float = Field(default=0.0, ge=0)
    rules: tuple[Rule, ...] = ()
    replies: tuple[str, ...] = ()
    faults: FaultRates = FaultRates()
    seed: int = 0
    tally: Path | None = None


def read_script(path: Path) -> Script:
    """The script in `path`.

    Raises:
        ModelSetupError: the file is missing, is no YAML or JSON, or a field is unknown or out of range.
    """
    if not path.exists():
        raise ModelSetupError(f"no fake script {str(path)!r}: check the path, or use 'fake:' for none")
    content = read_yaml_file(path, "fake script", ModelSetupError)
    try:
        script = Script.model_validate(content or {})
    except ValidationError as error:
        raise ModelSetupError(f"fake script {str(path)!r}: {content_problems(error, 'the file')}") from None
    return script if script.tally is None else script.model_copy(update={"tally": path.parent / script.tally})
