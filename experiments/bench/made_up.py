"""Made-up material for benchmarks: records of a large run, points of an index, and random models.

The records have plausible evidence, answers and ledgers over a generated world. The points have the shape that bge-m3
gives: 1024 dimensions and some 90 weighted terms.

Text embeddings fill few of their dimensions, which is what a graph of neighbours lives on. So the vectors have 64
degrees of freedom, spread over 1024 dimensions by a fixed random projection, and a little noise in all of them. Terms
follow Zipf's law, as words do. A query is near one of the points and asks for eight of its terms.

The random models are XLM-RoBERTa in the layouts of bge-m3 and bge-reranker-v2-m3. What FlagEmbedding loads from these
folders is what it loads from the hub's: only the weights say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from arena.datasets.world import make_world
from arena.protocols import Embedding, SparseVector, Vectors
from arena.types import (
    Answer,
    CallAttempt,
    Cell,
    Dataset,
    Decision,
    Document,
    Failure,
    Gold,
    Hit,
    LaneHit,
    LLMCall,
    Question,
    Retrieval,
    RetrievalRequest,
    RetrievalSeconds,
    RunRecord,
    ShownDocument,
)

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast, XLMRobertaConfig

K, DEPTH = 5, 50
MODES = ("dense", "hybrid", "hybrid_rerank")


@dataclass(frozen=True, slots=True)
class UsageProfile:
    """How often a strategy retrieves, the roles of its calls after each retrieval, and how often it is right."""

    strategy: str
    retrievals: int
    roles: tuple[str, ...]
    right: float


PROFILES = (
    UsageProfile("vanilla", 1, ("generate",), 0.35),
    UsageProfile("corrective", 2, ("grade_relevance", "grade_relevance", "generate"), 0.4),
    UsageProfile("self_rag", 1, ("retrieve_on_demand", *("grade_relevance", "grade_support") * K, "generate"), 0.38),
    UsageProfile("ircot", 3, ("reason",), 0.5),
)
"""With three modes, twelve cells; 5.5 calls and 1.75 retrievals a question."""


def synthetic_world(questions: int) -> Dataset:
    """A world of MuSiQue's density: about six documents a question."""
    documents = max(100, 21_100 * questions // 3_356)
    world = make_world(documents, questions, 7)
    return Dataset(f"world:{documents}:7", world.documents, world.questions, world.gold, world.fingerprint)


def synthetic_records(dataset: Dataset, seed: int = 0) -> Iterator[RunRecord]:
    """One record for every question in each of twelve cells, question by question; every 100th failed."""
    rng = Random(seed)
    cells = [
        (profile, Cell(profile.strategy, mode, "fake:", {"k": K, "temperature": 0.0}))
        for mode in MODES
        for profile in PROFILES
    ]
    whole = {one.doc_id: ShownDocument(one.doc_id, ((0, len(one.text)),)) for one in dataset.documents}
    answers = [gold.answers[0] for gold in dataset.gold.values() if gold.answers]
    for question in dataset.questions:
        gold = dataset.gold[question.question_id]
        for profile, cell in cells:
            record = _record(profile, cell, question, gold, dataset.documents, rng.choice(answers), rng)
            if (answer := record.answer) is not None:
                record = replace(record, answer=replace(answer, shown=tuple(map(whole.__getitem__, answer.used_ids))))
            yield record


def _record(
    profile: UsageProfile,
    cell: Cell,
    question: Question,
    gold: Gold,
    documents: Sequence[Document],
    wrong: str,
    rng: Random,
) -> RunRecord:
    calls = tuple(_call(role, rng) for _ in range(profile.retrievals) for role in profile.roles)
    if rng.random() < 0.01:
        failure = Failure("model", "ModelCallError", "generate: HTTP 500 after 7 attempts")
        return RunRecord(cell, question.question_id, "failed", None, failure, (), calls[:1], (), 1.0)
    found = tuple(
        _retrieval(question.text, cell.retrieval_mode, gold, documents, rng) for _ in range(profile.retrievals)
    )
    used = tuple(dict.fromkeys(hit.doc_id for hit in found[-1].hits))
    seen = tuple(dict.fromkeys(hit.doc_id for retrieval in found for hit in retrieval.hits))
    abstained = rng.random() < 0.08
    right = not abstained and bool(gold.answers) and rng.random() < profile.right
    text = "I do not know." if abstained else f"It is {gold.answers[0]}." if right else wrong
    return RunRecord(
        cell=cell,
        question_id=question.question_id,
        outcome="abstained" if abstained else "answered",
        answer=Answer(text, abstained, seen, used, used[:1]),
        failure=None,
        retrievals=found,
        calls=calls,
        decisions=tuple(
            Decision(role, "yes", rng.random(), 0.5, "paper", ("evidence",), "T1", doc_id)
            for role, doc_id in zip(profile.roles[1:], used, strict=False)
        ),
        wall_seconds=rng.uniform(0.5, 4.0),
    )


def _retrieval(query: str, mode: str, gold: Gold, documents: Sequence[Document], rng: Random) -> Retrieval:
    ids = [doc_id for doc_id in gold.supporting_ids if rng.random() < 0.6]
    ids += [document.doc_id for document in rng.sample(documents, DEPTH) if document.doc_id not in gold.supporting_ids]
    top = sorted(ids[:K], key=lambda _: rng.random())
    names = ("dense",) if mode == "dense" else ("dense", "sparse", "rerank")[: MODES.index(mode) + 1]
    hits = tuple(
        Hit(doc_id, doc_id, rank, 1.0 / rank, {name: LaneHit(rank, rng.random()) for name in names})
        for rank, doc_id in enumerate(top, start=1)
    )
    fused = mode != "dense"
    request = RetrievalRequest(
        query, mode, K, DEPTH if fused else None, 60 if fused else None, "rrf" if fused else None
    )
    beyond = tuple(ids[K:DEPTH]) if fused else ()
    return Retrieval(request, hits, RetrievalSeconds(0.01, 0.005, started=rng.random()), beyond=beyond)


def _call(role: str, rng: Random) -> LLMCall:
    seconds = rng.uniform(0.1, 0.4)
    attempt = CallAttempt(rng.randrange(200, 900), rng.randrange(1, 40), None, None, 0.01, seconds)
    sha = f"{rng.getrandbits(64):016x}"
    return LLMCall(role, "fake:", sha, (attempt,), started_seconds=rng.random(), finish_reason="stop")


DIMENSION = 1024
FREEDOM = 64
NOISE = 0.3
"""Length of the noise, and of a query's distance to its point, relative to the vector."""
TERMS = 90
QUERY_TERMS = 8
VOCABULARY = 30_000
SLICE = 256


def slices(points: int, seed: int) -> Iterator[tuple[range, Embedding]]:
    """All points, slice by slice, so that nobody has to hold them; each slice follows from seed and place."""
    for start in range(0, points, SLICE):
        rng = np.random.default_rng([seed, start])
        positions = range(start, min(start + SLICE, points))
        sparse = tuple(_terms(rng, TERMS) for _ in positions)
        yield positions, Embedding(_vectors(rng, _latent(rng, len(positions))), sparse)


def queries(points: int, n: int, seed: int) -> Embedding:
    """`n` queries, each about a point of the first 256; a corpus of any size holds many of its neighbours."""
    rng = np.random.default_rng([seed, 0])
    size = min(SLICE, points)
    sparse = [_terms(rng, TERMS) for _ in range(size)]
    latent = _latent(rng, size)
    asking = np.random.default_rng([seed, points, n])
    chosen = asking.integers(0, size, n)
    moved = latent[chosen] + NOISE * asking.standard_normal((n, FREEDOM)).astype(np.float32)
    return Embedding(_vectors(asking, moved), tuple(_asked(asking, sparse[one]) for one in chosen))


def _latent(rng: np.random.Generator, n: int) -> Vectors:
    return rng.standard_normal((n, FREEDOM)).astype(np.float32)


def _vectors(rng: np.random.Generator, latent: Vectors) -> Vectors:
    spread = np.random.default_rng(FREEDOM).standard_normal((FREEDOM, DIMENSION)).astype(np.float32)
    vectors: Vectors = latent @ spread / np.float32(np.sqrt(FREEDOM))
    vectors += NOISE * rng.standard_normal(vectors.shape).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def _terms(rng: np.random.Generator, n: int) -> SparseVector:
    """`n` draws by Zipf's law with exponent 1 (rank = vocabulary ** u), repeats left out."""
    terms = np.unique((VOCABULARY ** rng.random(n * 2)).astype(np.int64))
    kept = np.sort(rng.permutation(terms)[:n])
    return SparseVector(tuple(kept.tolist()), tuple(rng.uniform(0.3, 2.0, len(kept)).astype(np.float32).tolist()))


def _asked(rng: np.random.Generator, passage: SparseVector) -> SparseVector:
    chosen = sorted(rng.choice(passage.indices, QUERY_TERMS, replace=False).tolist())
    return SparseVector(tuple(chosen), (1.0,) * QUERY_TERMS)


FRAME = ("<s>", "<pad>", "</s>", "<unk>")
"""Special tokens by id; `<mask>` is the last id."""


@dataclass(frozen=True, slots=True)
class ModelSize:
    """Size of a random model. `max_length`: tokens it can read."""

    layers: int = 2
    width: int = 32
    max_length: int = 32


def build_bge_m3(folder: Path, corpus: Sequence[str], shape: ModelSize = ModelSize(), *, seed: int = 0) -> Path:
    """A folder for `BGEM3FlagModel`: encoder, tokenizer trained on `corpus`, and the two heads."""
    import torch
    from transformers import XLMRobertaModel

    tokenizer = corpus_tokenizer(folder, corpus, shape)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        XLMRobertaModel(xlm_config(tokenizer, shape)).save_pretrained(folder)
        for name, outputs in (("colbert_linear.pt", shape.width), ("sparse_linear.pt", 1)):
            torch.save(torch.nn.Linear(shape.width, outputs).state_dict(), folder / name)
    return folder


def xlm_config(tokenizer: PreTrainedTokenizerFast, shape: ModelSize) -> XLMRobertaConfig:
    """The configuration of a model of that shape."""
    from transformers import XLMRobertaConfig

    return XLMRobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=shape.width,
        num_hidden_layers=shape.layers,
        num_attention_heads=4,
        intermediate_size=4 * shape.width,
        max_position_embeddings=shape.max_length + 2,  # positions start behind the padding id
        type_vocab_size=1,
        initializer_range=0.3,  # wide enough that different texts get clearly different vectors
        pad_token_id=FRAME.index("<pad>"),
        bos_token_id=FRAME.index("<s>"),
        eos_token_id=FRAME.index("</s>"),
    )


def corpus_tokenizer(folder: Path, corpus: Sequence[str], shape: ModelSize) -> PreTrainedTokenizerFast:
    """Unigram pieces over text with spaces made visible, framed as XLM-RoBERTa frames a text and a pair."""
    from tokenizers import Tokenizer
    from tokenizers.models import Unigram
    from tokenizers.pre_tokenizers import Metaspace
    from tokenizers.processors import TemplateProcessing
    from tokenizers.trainers import UnigramTrainer
    from transformers import XLMRobertaTokenizerFast

    tokenizer = Tokenizer(Unigram())
    tokenizer.pre_tokenizer = Metaspace()
    trainer = UnigramTrainer(vocab_size=400, special_tokens=list(FRAME), unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(corpus, trainer)
    tokenizer.post_processor = TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", FRAME.index("<s>")), ("</s>", FRAME.index("</s>"))],
    )
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    fast: PreTrainedTokenizerFast = XLMRobertaTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"), model_max_length=shape.max_length
    )
    fast.save_pretrained(folder)
    return fast
