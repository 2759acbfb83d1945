from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from arena.config.settings import RerankConfig
from arena.errors import ConfigError, UnknownNameError, WeightsError
from arena.types import Passage
from indexing.rerank.cross_encoders import BGE_RERANKER, FlagCrossEncoder, SentenceCrossEncoder, bounded_batch_size
from indexing.rerank.opening import open_reranker
from tests.letter_embedder import LetterEmbedder
from tests.tiny_models import build_tiny_reranker

Kind = type[FlagCrossEncoder] | type[SentenceCrossEncoder]

QUERIES = ["who governs the town", "ship", "when was the river bridged " * 20, ""]
TEXTS = ["a river near the hill", "the old harbour and the ships of 1871 " * 9, "glass", "", "the school", "a town"]
PASSAGES = [Passage(f"p{at}", f"p{at}", "Title" if at % 2 else "", text, 0, len(text)) for at, text in enumerate(TEXTS)]
CANDIDATES = [PASSAGES, PASSAGES[:2], PASSAGES[1:5], PASSAGES[::-1]]
CPU = RerankConfig(devices=("cpu",))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_reranker(tmp_path_factory.mktemp("weights") / "tiny-reranker")


@pytest.fixture(scope="module", params=[FlagCrossEncoder, SentenceCrossEncoder], ids=["flag", "sentence"])
def kind(request: pytest.FixtureRequest) -> Kind:
    chosen: Kind = request.param
    return chosen


def flat(scores: list[list[float]]) -> list[float]:
    return [score for row in scores for score in row]


def texts_of(candidates: list[list[Passage]]) -> list[list[str]]:
    return [[f"{p.title}\n{p.text}" if p.title else p.text for p in row] for row in candidates]


@contextmanager
def counted_passes() -> Iterator[list[int]]:
    """The number of rows of every forward pass through the transformer below the classifier."""
    import torch
    from transformers import XLMRobertaModel

    rows: list[int] = []

    def count(module: torch.nn.Module, inputs: object, output: object) -> None:
        if isinstance(module, XLMRobertaModel):
            rows.append(len(output[0]))  # type: ignore[index]

    handle = torch.nn.modules.module.register_module_forward_hook(count)
    try:
        yield rows
    finally:
        handle.remove()


def test_scores_are_those_of_flag_embedding(folder: Path) -> None:
    from FlagEmbedding import FlagReranker

    pairs = [(query, text) for query, row in zip(QUERIES, texts_of(CANDIDATES), strict=True) for text in row]
    expected = FlagReranker(str(folder), devices="cpu").compute_score(pairs, normalize=True, max_length=64)
    found = flat(FlagCrossEncoder(folder, CPU).score(QUERIES, CANDIDATES))
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert np.ptp(found) > 0.01


def test_scores_are_those_of_sentence_transformers(folder: Path) -> None:
    from sentence_transformers import CrossEncoder

    pairs = [(query, text) for query, row in zip(QUERIES, texts_of(CANDIDATES), strict=True) for text in row]
    model = CrossEncoder(str(folder), device="cpu")
    expected = [float(model.predict([pair], show_progress_bar=False)[0]) for pair in pairs]
    reranker = SentenceCrossEncoder(folder, CPU)
    np.testing.assert_allclose(flat(reranker.score(QUERIES, CANDIDATES)), expected, atol=1e-5)
    assert reranker.identity["normalisation"] == "sigmoid"


def test_a_batch_changes_no_score(kind: Kind, folder: Path) -> None:
    reranker = kind(folder, CPU)
    together = reranker.score(QUERIES, CANDIDATES)
    for batch_size in (1, 3, 7):
        small = kind(folder, RerankConfig(devices=("cpu",), batch_size=batch_size))
        np.testing.assert_allclose(flat(small.score(QUERIES, CANDIDATES)), flat(together), atol=1e-5)
    for query, passages, row in zip(QUERIES, CANDIDATES, together, strict=True):
        for passage, score in zip(passages, row, strict=True):
            assert reranker.score([query], [[passage]])[0][0] == pytest.approx(score, abs=1e-5)


def test_batches_cut_across_queries_and_each_pair_is_seen_once(kind: Kind, folder: Path) -> None:
    reranker = kind(folder, RerankConfig(devices=("cpu",), batch_size=6))
    with counted_passes() as rows:
        reranker.score(QUERIES, CANDIDATES)
    assert rows == [6, 6, 6]


def test_several_devices_share_the_work(kind: Kind, folder: Path) -> None:
    two = kind(folder, RerankConfig(devices=("cpu", "cpu")))
    with counted_passes() as rows:
        found = two.score(QUERIES, CANDIDATES)
    assert sorted(rows) == [9, 9]
    np.testing.assert_allclose(flat(found), flat(kind(folder, CPU).score(QUERIES, CANDIDATES)), atol=1e-5)


def test_nothing_to_score(kind: Kind, folder: Path) -> None:
    reranker = kind(folder, CPU)
    assert reranker.score([], []) == []
    assert reranker.score(["a", "b"], [[], []]) == [[], []]


def test_half_a_character_is_no_crash(kind: Kind, folder: Path) -> None:
    reranker = kind(folder, CPU)
    assert reranker.score(["ship \ud83d"], [PASSAGES]) == reranker.score(["ship ?"], [PASSAGES])


def test_what_can_change_a_score_is_in_the_identity(kind: Kind, folder: Path, tmp_path: Path) -> None:
    base = kind(folder, CPU, name="x").identity
    changed = {
        "dtype": kind(folder, RerankConfig(devices=("cpu",), dtype="bfloat16"), name="x"),
        "max_length_tokens": kind(folder, RerankConfig(devices=("cpu",), max_length=32), name="x"),
        "weights_sha256": kind(build_tiny_reranker(tmp_path / "other", seed=1), CPU, name="x"),
        "model": kind(folder, CPU),
    }
    for key, other in changed.items():
        differing = {name for name in base if base[name] != other.identity[name]}
        assert differing - {"config_sha256"} == {key}  # two trainings of a tokenizer differ in the last digit
    assert (base["max_length_tokens"], base["device"], base["dtype"]) == (64, "cpu", "float32")
    assert kind(folder, RerankConfig(devices=("cpu",), batch_size=2), name="x").identity == base


def test_a_numbered_cpu_is_a_cpu(kind: Kind, folder: Path) -> None:
    numbered = kind(folder, RerankConfig(devices=("cpu:0",)))
    assert numbered.identity == kind(folder, CPU).identity
    with counted_passes() as rows:
        numbered.score(["ship"] * 40, [PASSAGES[:1]] * 40)
    assert rows == [32, 8]


def test_long_pairs_go_in_smaller_batches() -> None:
    assert [bounded_batch_size(32, tokens) for tokens in (64, 512, 1024, 8192)] == [32, 32, 16, 2]
    assert bounded_batch_size(1, 8192) == 1


def test_half_precision_is_near(kind: Kind, folder: Path) -> None:
    half = kind(folder, RerankConfig(devices=("cpu",), dtype="bfloat16"))
    np.testing.assert_allclose(
        flat(half.score(QUERIES, CANDIDATES)), flat(kind(folder, CPU).score(QUERIES, CANDIDATES)), atol=0.05
    )


def test_the_threshold_belongs_to_one_model(folder: Path) -> None:
    assert FlagCrossEncoder(folder, CPU, name=BGE_RERANKER).default_threshold == 0.15
    assert FlagCrossEncoder(folder, CPU).default_threshold is None
    assert SentenceCrossEncoder(folder, CPU).default_threshold is None


def test_a_long_query_leaves_room_for_the_passage(folder: Path) -> None:
    reranker = FlagCrossEncoder(folder, RerankConfig(devices=("cpu",), max_length=32))
    first, second = reranker.score([QUERIES[2]], [[PASSAGES[0], PASSAGES[2]]])[0]
    assert first != second


@pytest.mark.parametrize(("length", "message"), [(65, "more than the 64 tokens"), (8, "no room for a pair")])
def test_a_length_that_does_not_fit_is_refused(kind: Kind, folder: Path, length: int, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        kind(folder, RerankConfig(devices=("cpu",), max_length=length))


@pytest.mark.parametrize("lost", ["model.safetensors", "config.json"])
def test_an_incomplete_folder_is_refused(kind: Kind, folder: Path, tmp_path: Path, lost: str) -> None:
    incomplete = shutil.copytree(folder, tmp_path / "incomplete")
    (incomplete / lost).unlink()
    with pytest.raises(WeightsError, match="arena models fetch"):
        kind(incomplete, CPU)


def test_a_classifier_is_no_reranker(kind: Kind, folder: Path, tmp_path: Path) -> None:
    from transformers import XLMRobertaConfig, XLMRobertaForSequenceClassification

    three = shutil.copytree(folder, tmp_path / "three")
    config = XLMRobertaConfig.from_pretrained(folder, num_labels=3)
    XLMRobertaForSequenceClassification(config).save_pretrained(three)
    with pytest.raises(WeightsError, match="3 numbers a pair"):
        kind(three, CPU)


def test_loading_asks_no_network(kind: Kind, folder: Path) -> None:
    asked: list[str] = []
    listening = True

    def listen(event: str, arguments: tuple[object, ...]) -> None:
        if listening and event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname"}:
            asked.append(event)

    sys.addaudithook(listen)  # sees calls that a library makes and whose failure it swallows
    kind(folder, CPU).score(["a ship"], [PASSAGES[:1]])
    listening = False
    assert asked == []


def test_settings_choose_the_way_a_folder_is_run(folder: Path, tmp_path: Path) -> None:
    named = shutil.copytree(folder, tmp_path / BGE_RERANKER)
    flag = open_reranker(RerankConfig(model=str(named), devices=("cpu",)), LetterEmbedder(), tmp_path)
    assert isinstance(flag, FlagCrossEncoder)
    assert (flag.identity["model"], flag.default_threshold) == (BGE_RERANKER, 0.15)
    other = open_reranker(RerankConfig(model=str(folder), devices=("cpu",)), LetterEmbedder(), tmp_path)
    assert isinstance(other, SentenceCrossEncoder)
    assert other.identity["model"] == "tiny-reranker"


def test_names_that_lead_nowhere_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'late_interaction'"):
        open_reranker(RerankConfig(model="late-interaction"), LetterEmbedder(), tmp_path)
    with pytest.raises(WeightsError, match="no folder 'nowhere/at/all'"):
        open_reranker(RerankConfig(model="nowhere/at/all"), LetterEmbedder(), tmp_path)
    with pytest.raises(ConfigError, match="revision 'main' needs a model of the hub"):
        open_reranker(RerankConfig(model=str(folder), revision="main"), LetterEmbedder(), tmp_path)
