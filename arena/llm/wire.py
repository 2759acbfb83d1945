"""How a request is put: its conversation, and its parameters on the LangChain model, beside it, or in a completion."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from arena.llm.access import Dialect
from arena.llm.parameters import JSON_SCHEMA, Parameters
from arena.protocols import Message

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

MOST_KEPT = 32


class ConfiguredChats:
    """A LangChain model under changing parameters.

    The last few copies are kept: with each new one LangChain describes the model anew, which takes longer than all else
    that it does for a call.
    """

    def __init__(self, chat: BaseChatModel, dialect: Dialect) -> None:
        self._chat = chat
        self._dialect = dialect
        self._kept: OrderedDict[tuple[tuple[str, object], ...], BaseChatModel] = OrderedDict()

    def under(self, parameters: Parameters) -> BaseChatModel:
        """The model with the fields it has set to `parameters`; itself when they are."""
        wanted = {
            "temperature": parameters.temperature,
            "top_p": parameters.top_p,
            self._dialect.seed_field: parameters.seed,
            self._dialect.limit_field: None if parameters.other_limit_name else parameters.max_tokens,
        }
        fields = type(self._chat).model_fields
        changed = {
            name: value
            for name, value in wanted.items()
            if name is not None and name in fields and getattr(self._chat, name) != value
        }
        if not changed:
            return self._chat
        key = tuple(changed.items())
        if key not in self._kept:
            self._kept[key] = self._chat.model_copy(update=changed)
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]


def laid_out(conversation: Sequence[Message], sent: Parameters) -> list[tuple[str, str]]:
    """The turns as (role, text), all of their words in order, in the forms that `sent` has.

    Without `system_role` such turns are the user's, in one with the user's own beside them; without `repeated_roles`
    neighbours of one role are one turn.
    """
    turns: list[tuple[str, str]] = []
    after_system = False
    for turn in conversation:
        is_system = turn.role == "system" and not sent.system_role
        role = "user" if is_system else turn.role
        joined = bool(turns) and turns[-1][0] == role and (is_system or after_system or not sent.repeated_roles)
        text = _paragraphs(turns.pop()[1], turn.content) if joined else turn.content
        turns.append((role, text))
        after_system = is_system
    return turns


def _paragraphs(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)


def beside_messages(dialect: Dialect, parameters: Parameters, schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """What goes with one request to a chat model; `schema` is for the form of `parameters`."""
    sent: dict[str, Any] = {}
    past_the_package: dict[str, Any] = {}
    if parameters.stop:
        sent["stop"] = list(parameters.stop)
    if parameters.alternatives:
        sent |= {"logprobs": True, "top_logprobs": parameters.alternatives}
    if parameters.other_limit_name and dialect.other_limit is not None and parameters.max_tokens is not None:
        past_the_package[dialect.other_limit] = parameters.max_tokens
    if parameters.form is not None and schema is not None:
        native = parameters.form == JSON_SCHEMA
        if dialect.schema == "ollama":
            sent["format"] = dict(schema) if native else "json"
        elif dialect.schema is not None:
            holder = past_the_package if dialect.schema == "extra_body" else sent
            holder["response_format"] = _response_format(schema) if native else {"type": "json_object"}
    return sent | ({"extra_body": past_the_package} if past_the_package else {})


def completion_body(parameters: Parameters) -> dict[str, Any]:
    """What goes with the prompt of a completion, in OpenAI's form."""
    limit_name = "max_completion_tokens" if parameters.other_limit_name else "max_tokens"
    body = {
        "temperature": parameters.temperature,
        "top_p": parameters.top_p,
        "seed": parameters.seed,
        limit_name: parameters.max_tokens,
        "stop": list(parameters.stop) or None,
        "logprobs": parameters.alternatives or None,
    }
    if parameters.special_tokens:
        # Of vLLM: a checkpoint that reflects in special tokens must be heard out; other servers overlook the fields.
        body |= {"skip_special_tokens": False, "spaces_between_special_tokens": False}
    return {name: value for name, value in body.items() if value is not None}


def _response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    name = "".join(
        letter if letter.isascii() and letter.isalnum() else "_" for letter in schema.get("title") or "reply"
    )
    return {"type": "json_schema", "json_schema": {"name": name[:64], "strict": True, "schema": _strict(schema)}}


def _strict(node: Any) -> Any:
    """A schema as OpenAI's strict mode wants it: every field required, no other allowed, no defaults."""
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    strict = {key: _strict(value) for key, value in node.items() if key not in ("default", "properties", "$defs")}
    for key in ("properties", "$defs"):  # their keys are names of the user's, `default` may be one of them
        if key in node:
            strict[key] = {name: _strict(value) for name, value in node[key].items()}
    if "properties" in node:
        strict |= {"required": list(node["properties"]), "additionalProperties": False}
    return strict
