"""Every contestant under its default settings and under those that change its course; and the judges it may meet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from strategies import STRATEGIES, Variant, find_variant
from tests.scripted_writer import Verdict

LABELS_FILE = Path(__file__).with_name("labels.json")
ROUTER_FOLDER = Path(__file__).with_name("router")

SETTINGS_OF: Mapping[str, tuple[str, ...]] = {
    "vanilla": (),
    "retrieval_only": (),
    "closed_book": (),
    "oracle": (),
    "oracle_minus_one_hop": (),
    "gold_plus_distractors": ("distractors=3",),
    "ircot": ("max_sentences=2", "max_passages=1"),
    "adaptive": (
        "policy=always_a",
        "policy=always_b",
        "policy=always_c",
        f"policy=oracle:oracle_labels={LABELS_FILE}",
        f"policy=router:router={ROUTER_FOLDER}",
        "judge=labels",
        "cost_bias=1.5",
    ),
    "corrective": (
        "external=second_index",
        "external=live:evaluator=labels",
        "evaluator=labels",
        "evaluator=cross_encoder:upper=0.9:lower=0.2:strip_threshold=0.3",
        "evaluator=t5:checkpoint=weights",
        "decompose=none:external=second_index",
        "decompose=passages",
    ),
    "self_rag": (
        "mode=long",
        "mode=long:beam_width=1:accumulate=product:max_depth=3",
        "mode=closed_set:options=[Mirelle Ostrand, Ode Varn]",
        "constraints=hard",
        "mode=long:constraints=hard",
        "judge=labels",
        "retrieval=always",
        "retrieval=never",
        "checkpoint=true",
        "checkpoint=true:mode=long",
    ),
}
"""Beside the default, by strategy."""

ENTRIES = [
    entry for name in STRATEGIES for entry in (name, *(f"{name}:{settings}" for settings in SETTINGS_OF.get(name, ())))
]
VARIANTS: Mapping[str, Variant] = {entry: find_variant(entry) for entry in ENTRIES}


def chooses_among_options(variant: Variant) -> bool:
    """Whether its answer is one of given options, whatever is written."""
    return variant.settings.get("mode") == "closed_set"


def reads_tokens(variant: Variant) -> bool:
    """Whether it talks to a trained model in that model's own layout, special tokens and all."""
    return variant.settings.get("checkpoint") is True


def may_retrieve(variant: Variant) -> bool:
    """Whether its settings leave room for a retrieval."""
    never = variant.settings.get("policy") == "always_a" or variant.settings.get("retrieval") == "never"
    return variant.spec.evidence != "none" and not never


def loops(variant: Variant) -> bool:
    """Whether its figure has a way back."""
    after: dict[str, set[str]] = {}
    for source, target in variant.spec.figure:
        after.setdefault(source, set()).add(target)
    reach = {node: set(targets) for node, targets in after.items()}
    for _ in after:
        for targets in reach.values():
            targets |= {further for target in targets for further in reach.get(target, ())}
    return any(node in targets for node, targets in reach.items())


def _readable(entry: str) -> str:
    return entry.replace(str(LABELS_FILE), "FILE").replace(str(ROUTER_FOLDER), "FOLDER")


def those(which: Callable[[Variant], bool]) -> pytest.MarkDecorator:
    """Run a test over some of the variants."""
    chosen = [entry for entry, variant in VARIANTS.items() if which(variant)]
    return pytest.mark.parametrize("entry", chosen, ids=list(map(_readable, chosen)))


every = those(lambda variant: True)
writing = those(lambda variant: variant.spec.needs_model)
in_free_text = those(lambda variant: variant.spec.needs_model and not chooses_among_options(variant))


def _certain(role: str, prompt: str, labels: Sequence[str]) -> Mapping[str, float]:
    return dict.fromkeys(labels, 0.01) | {labels[0]: 0.9}


def _torn(role: str, prompt: str, labels: Sequence[str]) -> Mapping[str, float]:
    return dict.fromkeys(labels, 1.0)


JUDGES: Mapping[str, Verdict] = {
    "always the best label": lambda role, prompt, labels: labels[0],
    "always the worst label": lambda role, prompt, labels: labels[-1],
    "never readable": lambda role, prompt, labels: None,
    "certain": _certain,
    "torn": _torn,
}
"""Judges without a mind. The labels of a judgement go from best to worst; the last two give probabilities (T1)."""
