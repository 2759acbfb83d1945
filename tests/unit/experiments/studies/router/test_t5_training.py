from __future__ import annotations

from pathlib import Path

import pytest

from arena.errors import WeightsError
from experiments.studies.router.data import Example
from experiments.studies.router.training import T5Trainer, Tuning
from indexing.routing.routers import T5Router
from strategies.adaptive import Label
from tests.tiny_t5 import build_tiny_t5

QUICK = Tuning(epochs=12, learning_rate=3e-2, batch_size=8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_t5(tmp_path_factory.mktemp("t5") / "tiny", headless=True)


def examples(n: int = 10) -> list[Example]:
    """Questions about x are A, about y B, about z C; each is a family of its own."""
    labels: dict[str, Label] = {"x": "A", "y": "B", "z": "C"}
    pairs = [(f"{letter * (place + 3)} ?", label) for place in range(n) for letter, label in labels.items()]
    return [Example(text, text, label, "silver", family, 1.0) for family, (text, label) in enumerate(pairs)]


def trainer(folder: Path, tuning: Tuning = QUICK, seed: int = 0, said: list[str] | None = None) -> T5Trainer:
    return T5Trainer(folder, tuning, seed, devices=("cpu",), say=(said if said is not None else []).append)


def test_it_learns_and_keeps_the_best_epoch(folder: Path) -> None:
    said: list[str] = []
    trained = trainer(folder, said=said).fit(examples())
    assert trained.probabilities(["xxxxx ?", "yyyyy ?", "zzzzz ?"]).argmax(axis=1).tolist() == [0, 1, 2]
    assert len(said) == QUICK.epochs
    assert trained.facts["accuracy_set_aside"] == 1.0
    assert trained.facts["set_aside"] == 6
    assert f"epoch {trained.facts['best_epoch']}/12" in "\n".join(said)
    assert trained.facts["from"] == "tiny"


def test_the_same_seed_gives_the_same_weights_and_another_others(folder: Path) -> None:
    short = Tuning(epochs=1, learning_rate=1e-2)
    one, two, other = (trainer(folder, short, seed).fit(examples(3)).probabilities(["xy ?"]) for seed in (1, 1, 2))
    assert one.tolist() == two.tolist()
    assert one.tolist() != other.tolist()


def test_one_family_leaves_nothing_to_set_aside(folder: Path) -> None:
    kin = [Example(one.text, one.text, one.label, "silver", 0, 1.0) for one in examples(2)]
    facts = trainer(folder, Tuning(epochs=2)).fit(kin).facts
    assert (facts["set_aside"], facts["best_epoch"], facts["accuracy_set_aside"]) == (0, 2, None)


def test_what_is_saved_is_a_folder_without_pickles_that_answers_alike(folder: Path, tmp_path: Path) -> None:
    trained = trainer(folder, Tuning(epochs=1)).fit(examples(2))
    trained.save(tmp_path)
    files = {path.suffix for path in (tmp_path / "model").iterdir()}
    assert ".safetensors" in files
    assert not files & {".bin", ".pt", ".pkl"}
    shares = T5Router(tmp_path / "model", ("A", "B", "C"), {}, devices=("cpu",)).probabilities("xy ?")
    assert list(shares.values()) == pytest.approx(trained.probabilities(["xy ?"])[0].tolist(), abs=1e-6)


def test_the_rate_falls_linearly_to_nothing_and_no_weight_decays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the authors train theirs."""
    import torch

    rates: list[float] = []

    class Watched(torch.optim.AdamW):  # type: ignore[misc]
        def step(self, closure: None = None) -> None:
            rates.extend(group["lr"] for group in self.param_groups)
            assert all(group["weight_decay"] == 0.0 for group in self.param_groups)
            super().step(closure)

    monkeypatch.setattr(torch.optim, "AdamW", Watched)
    kin = [Example(one.text, one.text, one.label, "silver", 0, 1.0) for one in examples(2)]
    trainer(folder, Tuning(epochs=2, learning_rate=1e-2, batch_size=3)).fit(kin)
    assert rates == pytest.approx([1e-2, 0.75e-2, 0.5e-2, 0.25e-2])


def test_training_leaves_the_callers_generator_alone(folder: Path) -> None:
    import torch

    torch.manual_seed(5)
    before = torch.get_rng_state()
    trainer(folder, Tuning(epochs=1)).fit(examples(2))
    assert torch.equal(before, torch.get_rng_state())


def test_a_folder_without_a_t5_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="no loadable T5"):
        T5Trainer(tmp_path, Tuning(), 0)


def test_the_papers_settings_are_the_default() -> None:
    assert (Tuning().learning_rate, Tuning().batch_size) == (3e-5, 32)
