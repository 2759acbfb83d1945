"""Train a router: the light one by logistic regression on embeddings, in seconds on a CPU, or T5 as the paper does.

T5 reads the raw question and writes one letter; the best epoch on questions set aside is kept.

Adaptive-RAG (arXiv 2403.14403) and its code: AdamW, learning rate 3e-5, batches of 32, questions cut at 384 tokens; 15
to 40 epochs in the code, up to 100 in the paper. The rate falls linearly to 0, without warm-up or weight decay.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from arena.protocols import Embedder, Vectors
from experiments.studies.router.data import FOLDS, Example, family_folds
from indexing.devices import chosen_devices
from indexing.routing.opening import RouterKind, query_identity
from indexing.routing.routers import (
    MODEL,
    LightWeights,
    encoded,
    letter_ids,
    letter_probabilities,
    load_t5,
    log_lengths,
    question_features,
)
from strategies.adaptive import LABELS

Shares = NDArray[np.float64]


PENALTY = 1.0
"""scikit-learn's C, at its default: 1 over the weight of the squared coefficients."""

_ITERATIONS = 2000
_NO_SPREAD = 1e-9


@dataclass
class QuestionVectors:
    """Each question embedded once, as a query is."""

    embedder: Embedder
    _known: dict[str, Vectors] = field(default_factory=dict)

    def of(self, texts: Sequence[str]) -> Vectors:
        """(n, d) float32, rows L2 = 1."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known |= dict(zip(new, self.embedder.embed_queries(new).dense, strict=True))
        return np.stack([self._known[text] for text in texts])


@dataclass(frozen=True, slots=True)
class LightTrained:
    """A trained regression. `facts`: what is worth recording of its training, as JSON values."""

    weights: LightWeights
    vectors: QuestionVectors
    facts: Mapping[str, Any]

    def probabilities(self, texts: Sequence[str]) -> Shares:
        """(n, 3), rows sum 1: of the labels A, B and C for each question."""
        return self.weights.probabilities(self.vectors.of(texts), texts)

    def save(self, folder: Path) -> None:
        """Write the weights into a folder that exists. Raises `OSError`."""
        self.weights.save(folder)


class LightTrainer:
    """Trains scikit-learn's `LogisticRegression`, whose solution is unique: there is nothing to seed.

    `embedder`: what can change a question's vector.
    """

    kind: ClassVar[RouterKind] = "light"

    def __init__(self, embedder: Embedder) -> None:
        self._vectors = QuestionVectors(embedder)
        self.embedder = query_identity(embedder.identity)

    def fit(self, examples: Sequence[Example]) -> LightTrained:
        """A label that no example has gets probability 0."""
        texts = [one.text for one in examples]
        lengths = log_lengths(texts)
        length = np.array([lengths.mean(), max(float(lengths.std()), _NO_SPREAD)])
        features = question_features(self._vectors.of(texts), texts, float(length[0]), float(length[1]))
        coefficients, intercepts = _solve(features, [LABELS.index(one.label) for one in examples], examples)
        facts = {"C": PENALTY, "solver": "lbfgs", "features": features.shape[1]}
        return LightTrained(LightWeights(coefficients, intercepts, length), self._vectors, facts)


def _solve(features: Shares, labels: Sequence[int], examples: Sequence[Example]) -> tuple[Shares, Shares]:
    """(3, d + 1) coefficients and (3,) intercepts, -inf for a label that is not there."""
    coefficients = np.zeros((len(LABELS), features.shape[1]))
    intercepts = np.full(len(LABELS), -np.inf)
    present = sorted(set(labels))
    if len(present) == 1:
        intercepts[present] = 0.0
        return coefficients, intercepts
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=PENALTY, max_iter=_ITERATIONS)
    model.fit(features, labels, sample_weight=[one.weight for one in examples])
    if len(present) == 2:  # one row, of the second label against the first
        coefficients[present[1]], intercepts[present] = model.coef_[0], (0.0, model.intercept_[0])
    else:
        coefficients[present], intercepts[present] = model.coef_, model.intercept_
    return coefficients, intercepts


_PASSED_OVER = -100
"""Target tokens that torch's loss leaves out: padding."""

_LEAST_SHARE = 1e-12


@dataclass(frozen=True, slots=True)
class Tuning:
    """How a T5 is fine-tuned; the defaults are the paper's."""

    epochs: int = 35
    learning_rate: float = 3e-5
    batch_size: int = 32


@dataclass(frozen=True, slots=True)
class T5Trained:
    """A trained T5. Its parts are as those of `LightTrained`."""

    model: Any
    tokenizer: Any
    facts: Mapping[str, Any]

    def probabilities(self, texts: Sequence[str]) -> Shares:
        return _shares(self.model, self.tokenizer, texts)

    def save(self, folder: Path) -> None:
        self.model.save_pretrained(folder / MODEL)
        self.tokenizer.save_pretrained(folder / MODEL)


class T5Trainer:
    """Trains the T5 in a folder, of any size. The same examples give the same router."""

    kind: ClassVar[RouterKind] = "t5"
    embedder: ClassVar[None] = None

    def __init__(
        self,
        folder: Path,
        tuning: Tuning,
        seed: int,
        *,
        devices: Sequence[str] | None = None,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        """Raises `WeightsError` when the folder holds no T5 that writes, or one that does not tell A, B and C apart."""
        self._tokenizer, self._untrained = load_t5(folder)
        letter_ids(self._tokenizer, LABELS)
        self._name = folder.resolve().name
        self._tuning, self._seed, self._say = tuning, seed, say
        self._device = chosen_devices(devices)[0]

    def fit(self, examples: Sequence[Example]) -> T5Trained:
        """The weights of the epoch that labels the questions set aside best; of equal ones, the surest.

        One of five parts is set aside, families kept together; with a single family nothing is, and the last epoch
        counts.
        """
        import torch

        aside = family_folds([one.family for one in examples], FOLDS, self._seed)[-1]
        if len(aside) == len(examples):
            aside = []
        training = [one for place, one in enumerate(examples) if place not in set(aside)]
        chosen_on = [examples[place] for place in aside]
        devices = [self._device] if self._device.startswith("cuda") else []
        with torch.random.fork_rng(devices=devices):  # the seed is ours, and the process's own state stays as it was
            torch.manual_seed(self._seed)
            return self._tuned(training, chosen_on)

    def _tuned(self, training: Sequence[Example], chosen_on: Sequence[Example]) -> T5Trained:
        import torch

        model = copy.deepcopy(self._untrained).to(self._device)
        optimiser = torch.optim.AdamW(model.parameters(), lr=self._tuning.learning_rate, weight_decay=0.0)
        steps = self._tuning.epochs * math.ceil(len(training) / self._tuning.batch_size)
        falling = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.0, total_iters=max(steps, 1))
        order = np.random.default_rng(self._seed)
        best: tuple[float, float] = (-1.0, -math.inf)
        kept, best_epoch = None, self._tuning.epochs
        for epoch in range(1, self._tuning.epochs + 1):
            loss = self._epoch(model, optimiser, falling, [training[at] for at in order.permutation(len(training))])
            right, sureness = self._measured(model, chosen_on)
            self._say(f"epoch {epoch}/{self._tuning.epochs}: loss {loss:.4f}, accuracy set aside {right:.3f}")
            if chosen_on and (right, sureness) > best:
                best, best_epoch = (right, sureness), epoch
                kept = {name: tensor.detach().cpu().clone() for name, tensor in model.state_dict().items()}
        if kept is not None:
            model.load_state_dict(kept)
        facts = {
            "from": self._name,
            "epochs": self._tuning.epochs,
            "best_epoch": best_epoch,
            "learning_rate": self._tuning.learning_rate,
            "schedule": "linear to 0",
            "weight_decay": 0.0,
            "batch_size": self._tuning.batch_size,
            "set_aside": len(chosen_on),
            "accuracy_set_aside": best[0] if chosen_on else None,
        }
        return T5Trained(model.eval(), self._tokenizer, facts)

    def _epoch(self, model: Any, optimiser: Any, falling: Any, examples: Sequence[Example]) -> float:
        """One pass over the examples; the mean loss of its batches."""
        model.train()
        losses: list[float] = []
        for at in range(0, len(examples), self._tuning.batch_size):
            batch = examples[at : at + self._tuning.batch_size]
            inputs = encoded(self._tokenizer, [one.text for one in batch]).to(self._device)
            written = self._tokenizer([one.label for one in batch], padding=True, return_tensors="pt")["input_ids"]
            targets = written.masked_fill(written == self._tokenizer.pad_token_id, _PASSED_OVER).to(self._device)
            loss = model(**inputs, labels=targets).loss
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            falling.step()
            losses.append(float(loss.detach()))
        return sum(losses) / len(losses)

    def _measured(self, model: Any, examples: Sequence[Example]) -> tuple[float, float]:
        """Accuracy, and mean log share of the right label; 0 and 0 for no examples."""
        if not examples:
            return 0.0, 0.0
        shares = _shares(model.eval(), self._tokenizer, [one.text for one in examples])
        truth = [LABELS.index(one.label) for one in examples]
        right = float((shares.argmax(axis=1) == truth).mean())
        return right, float(np.log(np.maximum(shares[range(len(truth)), truth], _LEAST_SHARE)).mean())


def _shares(model: Any, tokenizer: Any, texts: Sequence[str]) -> Shares:
    return np.array(letter_probabilities(model, tokenizer, letter_ids(tokenizer, LABELS), texts), dtype=np.float64)


Trained = LightTrained | T5Trained
Trainer = LightTrainer | T5Trainer
