"""`arena bench startup`, `world` and `embedding`, and what all benchmarks measure with: percentiles and peak memory.

A peak of memory is that of the whole process, so that each measurement has a process of its own (`apart`). Embedding is
measured on the CPU, against the library underneath it, with and without the cache.
"""

from __future__ import annotations

import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr
from functools import partial
from io import StringIO
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from arena.config import EmbeddingConfig, cache_dir
from arena.datasets.world import check_world, make_world
from arena.protocols import SparseVector
from arena.types import Document
from experiments.bench.made_up import ModelSize, build_bge_m3
from experiments.terminal.progress import Reporter
from experiments.terminal.tables import Console
from indexing.bm25 import Bm25
from indexing.build import ensure_index
from indexing.embedding.bge_m3 import BgeM3Encoder
from indexing.embedding.cache import CachedEncoder, EmbeddingCache, Kept
from indexing.embedding.embedder import Encoder, LaneEmbedder
from indexing.embedding.sentence_transformer import SentenceTransformerEncoder

T = TypeVar("T")

Figures = dict[str, Any]
"""Name, with its unit -> a number, a text or None (not measured), or a list of such mappings."""

Say = Callable[[str], None]
"""Hears of each step."""

WARM_UP = 3


def apart(measure: Callable[..., Figures], *arguments: Any) -> Figures:
    """What a function of a module finds in a process of its own. Arguments and figures go through JSON."""
    code = (
        f"import json, sys; from {measure.__module__} import {measure.__name__} as measure; "
        "print(json.dumps(measure(*json.loads(sys.argv[1]))))"
    )
    command = [sys.executable, "-c", code, json.dumps(arguments)]
    figures: Figures = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return figures


def timings_ms(ask: Callable[[int], object], n: int, name: str) -> Figures:
    """`NAME_p50_ms` and `NAME_p95_ms` of `ask(0)` to `ask(n - 1)`, after a few that do not count; None if n is 0."""
    for i in range(min(WARM_UP, n)):
        ask(i)
    return percentiles_ms([1e3 * seconds(partial(ask, i)) for i in range(n)], f"{name}_")


def percentiles_ms(taken: Sequence[float], prefix: str = "") -> Figures:
    """`PREFIXp50_ms` and `PREFIXp95_ms` of milliseconds; None for none."""
    p50, p95 = np.percentile(taken, [50, 95]).tolist() if taken else (None, None)
    return {f"{prefix}p50_ms": p50, f"{prefix}p95_ms": p95}


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What the work gives, and the wall seconds of doing it once."""
    started = perf_counter()
    found = work()
    return found, perf_counter() - started


def seconds(work: Callable[[], object]) -> float:
    """Wall seconds of doing it once."""
    return timed(work)[1]


def efficiency(wall_seconds: float, ideal_seconds: float) -> Figures:
    """The two, and what share of the measured time the ideal one is."""
    share = ideal_seconds / wall_seconds
    return {"wall_seconds": wall_seconds, "ideal_seconds": ideal_seconds, "efficiency": share}


def scripted(path: Path, *rules: Mapping[str, str], latency_seconds: float = 0.0) -> str:
    """The name of a fake model that answers by `rules`, each call in so many seconds. `path`: of its script."""
    path.write_text(json.dumps({"latency_seconds": latency_seconds, "rules": rules}), encoding="utf-8")
    return f"fake:{path}"


def silent() -> Reporter:
    """Hears of progress and says nothing."""
    return Reporter(Console(stderr=True), quiet=True)


def peak_memory_mb() -> float:
    """Peak resident memory in MB (10^6 bytes).

    Linux hands the peak of `getrusage` on from the process that forked this one, so the kernel's own high-water
    mark of this program is read there.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


_HELP = "import sys; sys.argv = ['arena', '--help']; from experiments.cli.main import main; main()"


def measure_startup() -> Figures:
    """Median of five fresh processes: `arena --help`, our packages imported, and a bare interpreter to compare."""
    return {
        "help_seconds": _median_seconds(_HELP),
        "import_seconds": _median_seconds("import arena, strategies, indexing, experiments"),
        "bare_python_seconds": _median_seconds("pass"),
    }


def _median_seconds(code: str) -> float:
    start = partial(subprocess.run, [sys.executable, "-c", code], capture_output=True, check=True)
    return statistics.median(seconds(start) for _ in range(5))


def world_figures() -> Figures:
    """Seconds to make and to check a world of MuSiQue's size, the unsound questions found, and peak memory."""
    size = {"documents": MUSIQUE, "questions": MUSIQUE_QUESTIONS, "seed": 7}
    world, made = timed(lambda: make_world(*size.values()))
    violations, checked = timed(lambda: len(check_world(world)))
    taken = {"make_seconds": made, "check_seconds": checked, "violations": violations}
    return {**size, **taken, "peak_memory_mb": peak_memory_mb()}


BATCH_SIZE = 32
PASSAGES = 32 * BATCH_SIZE  # FlagEmbedding passes its first, longest batch twice: below 5 % of so many
REPEATS = 3
CORPUS = 2_000  # passages of the index that is built cold and warm
SLICE = 256
WIDE = 1024  # dimensions of bge-m3
MUSIQUE = 21_100  # passages of MuSiQue's corpus
MUSIQUE_QUESTIONS = 3_356
MUSIQUE_WORDS = (40, 120)  # of a passage: about as long as MuSiQue's, whose mean is 80
_SETTINGS = EmbeddingConfig(devices=("cpu",), batch_size=BATCH_SIZE, dtype="float32")
SYLLABLES = ("ka", "ro", "mi", "ten", "sul", "ver", "lo", "dan", "pri", "eth", "un", "gar")


def measure_embedding() -> Figures:
    """Medians over interleaved repeats; under three minutes on two idle cores.

    `*_throughput_ratio`: our passages per second over the library's on the same texts and batch size (1 = no cost),
    for a random model of bge-m3's layout and, where its weights are on disk, on half the texts, MiniLM (else None).
    `minilm_warm_speedup`: seconds to build an index of CORPUS passages as long as MuSiQue's with an empty cache over
    seconds to build it again elsewhere with the filled one: all of `ensure_index`, engine and checks too.
    `cache_*`: as many entries of bge-m3's size as MuSiQue has passages, written and read back.
    """
    texts = made_up_texts(PASSAGES)
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as scratch:
        folder = build_bge_m3(
            Path(scratch) / "bge-m3", texts[:100], ModelSize(layers=4, width=256, max_length=512), seed=0
        )
        figures: Figures = {"passages": PASSAGES, "repeats": REPEATS, "batch_size": BATCH_SIZE, "corpus": CORPUS}
        corpus_texts = made_up_texts(CORPUS, seed=1, words=MUSIQUE_WORDS)
        documents = [Document(f"d{number}", "", text) for number, text in enumerate(corpus_texts)]
        figures |= _named("bge_m3_random", _bge_m3(folder, texts))
        minilm = cache_dir() / "weights" / "all-minilm-l6-v2"
        figures |= {"minilm_throughput_ratio": None, "minilm_warm_speedup": None}
        if (minilm / "model.safetensors").is_file():
            half = texts[: PASSAGES // 2]
            figures |= _named("minilm", _minilm(minilm, half, documents, Path(scratch) / "minilm"))
        figures |= _reading(Path(scratch))
    return figures


def made_up_texts(n: int, *, seed: int = 0, words: tuple[int, int] = (10, 30)) -> list[str]:
    """Passages of so many made-up words, at least and at most, of some three tokens each; no two alike."""
    rng = random.Random(seed)
    known = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 3))) for _ in range(2000)]
    return [" ".join(rng.choices(known, k=rng.randint(*words))) for _ in range(n)]


def _bge_m3(folder: Path, texts: list[str]) -> dict[str, float]:
    from FlagEmbedding import BGEM3FlagModel

    library = BGEM3FlagModel(str(folder), use_fp16=False, devices="cpu", batch_size=BATCH_SIZE)
    library.tokenizer.deprecation_warnings["Asking-to-pad-a-fast-tokenizer"] = True  # it pads so, and is warned once
    ours = BgeM3Encoder(folder, _SETTINGS)
    return _against(ours.passages, lambda some: library.encode(some, return_sparse=True), texts)


def _minilm(folder: Path, texts: list[str], documents: list[Document], scratch: Path) -> dict[str, float]:
    from sentence_transformers import SentenceTransformer

    library = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    ours = SentenceTransformerEncoder(folder, _SETTINGS)
    figures = _against(
        ours.passages,
        lambda some: library.encode(some, batch_size=BATCH_SIZE, normalize_embeddings=True, show_progress_bar=False),
        texts,
    )
    return figures | _warm(ours, Bm25(), documents, scratch)


def _against(
    ours: Callable[[list[str]], object], library: Callable[[list[str]], object], texts: list[str]
) -> dict[str, float]:
    mine, theirs = [], []
    with redirect_stderr(StringIO()):  # FlagEmbedding draws bars
        for work in (ours, library):  # warm up
            work(texts[:BATCH_SIZE])
        for _ in range(REPEATS):
            mine.append(seconds(lambda: ours(texts)))
            theirs.append(seconds(lambda: library(texts)))
    return {
        "passages_per_second": len(texts) / statistics.median(mine),
        "library_passages_per_second": len(texts) / statistics.median(theirs),
        # Of neighbours in time, so that a machine that slows down slows both.
        "throughput_ratio": statistics.median(their / my for my, their in zip(mine, theirs, strict=True)),
    }


def _warm(encoder: Encoder, bm25: Bm25, documents: list[Document], scratch: Path) -> dict[str, float]:
    """Build one index with an empty cache and then, each time elsewhere, with the filled one."""

    def build(root: Path) -> None:
        cached = CachedEncoder(encoder, scratch / "embeddings")
        ensure_index(documents, LaneEmbedder(cached, bm25), root, slice_size=SLICE).close()
        cached.close()

    cold = seconds(lambda: build(scratch / "cold"))
    warm = statistics.median(seconds(partial(build, scratch / f"warm-{turn}")) for turn in range(3))
    return {"cold_seconds": cold, "warm_seconds": warm, "warm_speedup": cold / warm}


def _reading(root: Path) -> dict[str, float]:
    """Write and read back as many entries of bge-m3's size as MuSiQue has passages."""
    rng = np.random.default_rng(0)
    terms = SparseVector(tuple(range(90)), tuple(rng.random(90, dtype=np.float32).tolist()))
    dense = rng.standard_normal((MUSIQUE, WIDE), dtype=np.float32)
    texts = [f"passage {number}" for number in range(MUSIQUE)]
    cache = EmbeddingCache(root, {"model": "bench"})

    def write() -> None:
        for start in range(0, MUSIQUE, SLICE):
            rows = range(start, min(start + SLICE, MUSIQUE))
            cache.put("passage", {texts[row]: Kept(dense[row], terms) for row in rows})

    def read() -> None:
        for start in range(0, MUSIQUE, SLICE):
            cache.get("passage", texts[start : start + SLICE])

    figures = {"cache_entries": MUSIQUE, "cache_write_seconds": seconds(write), "cache_read_seconds": seconds(read)}
    cache.close()
    return figures | {"cache_bytes_per_entry": cache.path.stat().st_size / MUSIQUE}


def _named(model: str, figures: Mapping[str, float]) -> dict[str, float]:
    return {f"{model}_{name}": value for name, value in figures.items()}
