from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from hashlib import sha256

import pytest

from arena.datasets.records import fingerprint
from arena.datasets.world import BUNDLED, check_world, make_world
from arena.datasets.world.grammar import SHAPES
from arena.errors import DatasetError
from arena.types import Dataset

SIZES = [(60, 1, 0), (60, 20, 1), (119, 30, 2), (120, 40, 3), (500, 125, 4)]


@pytest.fixture(scope="module")
def bundled() -> Dataset:
    return make_world(**BUNDLED)


def _bytes(dataset: Dataset) -> bytes:
    later = ("official", "sentences")
    gold = [{name: value for name, value in asdict(one).items() if name not in later} for one in dataset.gold.values()]
    parts = (*map(asdict, dataset.documents), *map(asdict, dataset.questions), *gold)
    return "\n".join(json.dumps(part, sort_keys=True) for part in parts).encode()


def test_bundled_world_is_the_same_on_every_platform(bundled: Dataset) -> None:
    assert sha256(_bytes(bundled)).hexdigest() == "9af5ed11ec13f80bc2b22f60f0c9cca93e29075b26328127511bef0cdc301bb3"


def test_same_seed_gives_the_same_world_and_another_seed_another(bundled: Dataset) -> None:
    again = make_world(**BUNDLED)
    other = make_world(**BUNDLED | {"seed": BUNDLED["seed"] + 1})
    assert again == bundled
    assert other.fingerprint != bundled.fingerprint
    assert not {document.text for document in other.documents} & {document.text for document in bundled.documents}


def test_bundled_world_has_its_size_name_and_fingerprint(bundled: Dataset) -> None:
    assert (len(bundled.documents), len(bundled.questions)) == (240, 60)
    assert bundled.name == f"world:240:{BUNDLED['seed']}"
    assert bundled.fingerprint == fingerprint(bundled.documents, bundled.questions, bundled.gold)


def test_bundled_world_mixes_kinds_and_all_shapes(bundled: Dataset) -> None:
    kinds = Counter(question.kind for question in bundled.questions)
    assert kinds == {"multi_hop": 36, "single_hop": 9, "summary": 6, "unanswerable": 9}
    shapes = Counter(question.hop_shape for question in bundled.questions if question.kind == "multi_hop")
    assert shapes.keys() == SHAPES.keys()
    hops = Counter(question.hops for question in bundled.questions if question.kind == "multi_hop")
    assert [hops[2], hops[3], hops[4]] == [19, 11, 6]


def test_large_world_keeps_musiques_proportions_of_hops() -> None:
    dataset = make_world(1500, 400, 5)
    hops = Counter(question.hops for question in dataset.questions if question.kind == "multi_hop")
    shares = [hops[n] / hops.total() for n in (2, 3, 4)]
    assert shares == pytest.approx([0.52, 0.31, 0.17], abs=0.01)


@pytest.mark.parametrize(("documents", "questions", "seed"), SIZES)
def test_world_of_any_size_is_exact_and_sound(documents: int, questions: int, seed: int) -> None:
    dataset = make_world(documents, questions, seed)
    assert (len(dataset.documents), len(dataset.questions)) == (documents, questions)
    assert check_world(dataset) == []


def test_bundled_world_is_sound(bundled: Dataset) -> None:
    assert check_world(bundled) == []


def test_document_ids_do_not_tell_gold_from_the_rest(bundled: Dataset) -> None:
    gold = {doc_id for record in bundled.gold.values() for doc_id in record.supporting_ids}
    places = [place for place, document in enumerate(bundled.documents) if document.doc_id in gold]
    assert [document.doc_id for document in bundled.documents[:2]] == ["d00000", "d00001"]
    assert sum(places) / len(places) == pytest.approx((len(bundled.documents) - 1) / 2, rel=0.15)


def test_answers_are_literal_strings_of_the_last_gold_passage(bundled: Dataset) -> None:
    texts = {document.doc_id: document.text for document in bundled.documents}
    for question in bundled.questions:
        gold = bundled.gold[question.question_id]
        if gold.hop_order is not None:
            assert gold.answers[0] in texts[gold.hop_order[-1]]
            assert gold.answers[0] not in question.text


def test_a_title_is_shared_by_six_documents(bundled: Dataset) -> None:
    titles = Counter(document.title for document in bundled.documents)
    assert [count for _, count in titles.most_common(3)] == [6, 6, 1]


@pytest.mark.parametrize(
    ("documents", "questions", "message"),
    [
        (20, 60, "20 documents cannot carry 60 questions; ask for at least 180 documents"),
        (59, 1, "at least 60 documents"),
        (0, 1, "documents must be at least 1, not 0"),
        (10**11, 1, "documents must be at most 1000000, not 100000000000"),
        (240, -3, "questions must be at least 1, not -3"),
    ],
)
def test_impossible_sizes_are_refused(documents: int, questions: int, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        make_world(documents, questions, 1)
