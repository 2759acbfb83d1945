"""`python -m docs.build.seed_systems` runs the commands of docs/seed_systems.md and writes their output into it.

The page: text by hand, and blocks that say what is run and what of its output is quoted.

    <!-- run: arena show runs/seed
    columns: strategy, mode, F1 | cell, n
    parts: Gap; Failures
    lines: Gate
    -->
    (written here)
    <!-- end -->

What is written is the command, each list of columns as a table, and the parts and lines that begin so.

What the page quotes of a command's output: columns of a table, whole parts, single lines.

Seconds, dates and paths of a machine are left out by not being named.

The page's commands, run in this process and in a folder of their own.

The encoder, the reader and the careless judge of the page, made from the bundled world.

A reader whose every answer is known beforehand, as a script of the fake model.

It is given the gold documents, and so measures nothing: it is there to show whether the arena finds out what it does.

A text encoder that is TF-IDF (Sparck Jones, 1972), in a folder that sentence-transformers loads.
"""

from __future__ import annotations

import argparse
import difflib
import io
import json
import math
import os
import re
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import yaml

from arena.text import ABSTENTION
from arena.types import Dataset, Document, Question

_RULE = re.compile(r"\s*─+\s*")
_CELL = re.compile(r"\S+(?: \S+)*")

Row = Mapping[str, str]


def columns_of(output: str, wanted: Sequence[str]) -> str:
    """The wanted columns of the first table that has them all, as Markdown.

    A table is a line of headings, a rule, and the lines whose cells stand under the headings; cells are two spaces
    apart at least. Raises `ValueError` where no table has them.
    """
    for headings, rows in _tables(output.splitlines()):
        if set(wanted) <= set(headings):
            lines = [wanted, ["---"] * len(wanted), *([row.get(name, "") for name in wanted] for row in rows)]
            return "\n".join(f"| {' | '.join(line)} |" for line in lines)
    raise ValueError(f"no table has the columns {', '.join(wanted)}:\n{output}")


def part_of(output: str, start: str) -> str:
    """From the first line that begins with `start` to the next empty line. Raises `ValueError` where none does."""
    lines = output.splitlines()
    first = _place(lines, start)
    last = next((place for place in range(first, len(lines)) if not lines[place].strip()), len(lines))
    return "\n".join(line.rstrip() for line in lines[first:last])


def line_of(output: str, start: str) -> str:
    """The first line that begins with `start`. Raises `ValueError` where none does."""
    lines = output.splitlines()
    return lines[_place(lines, start)].strip()


def _place(lines: Sequence[str], start: str) -> int:
    for place, line in enumerate(lines):
        if line.lstrip().startswith(start):
            return place
    raise ValueError(f"no line begins with {start!r}:\n" + "\n".join(lines))


def _tables(lines: Sequence[str]) -> Iterator[tuple[list[str], list[Row]]]:
    """Headings and rows of each."""
    for place in range(1, len(lines)):
        if not _RULE.fullmatch(lines[place]):
            continue
        headings = list(_CELL.finditer(lines[place - 1]))
        below = (_row(headings, line) for line in lines[place + 1 :])
        yield [heading.group() for heading in headings], list(takewhile(bool, below))


def _row(headings: Sequence[re.Match[str]], line: str) -> Row:
    """Heading -> the cell of `line` below it. Cells below none are left out.

    Empty for a sentence: a line of one cell, or with a cell below several headings.
    """
    row: dict[str, str] = {}
    cells = list(_CELL.finditer(line))
    for cell in cells:
        above = [one.group() for one in headings if cell.start() < one.end() and one.start() < cell.end()]
        if len(above) > 1 or len(cells) == 1:
            return {}
        row |= dict.fromkeys(above, cell.group())
    return row


PAGE = Path(__file__).parents[2] / "docs" / "seed_systems.md"

_BLOCK = re.compile(
    r"(?P<head><!-- run: (?P<command>.+)\n(?:columns: (?P<columns>.+)\n)?(?:parts: (?P<parts>.+)\n)?"
    r"(?:lines: (?P<lines>.+)\n)?-->\n)"
    r"(?P<body>(?:(?!<!--).*\n)*?)(?P<end><!-- end -->)"
)


class Ran(NamedTuple):
    """What a command came to. `code`: 0, or 1 where a check failed."""

    code: int
    output: str


def render(page: str, run: Callable[[str], Ran]) -> str:
    """`page` with every block written anew, its commands run in their order.

    Raises `ValueError` where a block is not of its form, or its command prints nothing of what it quotes.
    """
    if page.count("<!-- run:") != len(_BLOCK.findall(page)):
        raise ValueError("a block of the page is not of the form that docs/build/seed_systems.py describes")

    def written(block: re.Match[str]) -> str:
        body = "\n\n".join(_body(block, run(block["command"])))
        return f"{block['head']}\n{body}\n\n{block['end']}"

    return _BLOCK.sub(written, page)


def _body(block: re.Match[str], ran: Ran) -> Iterator[str]:
    ending = f"    # exit code {ran.code}" if ran.code else ""
    yield f"```sh\n{block['command']}{ending}\n```"
    for columns in block["columns"].split(" | ") if block["columns"] else ():
        yield columns_of(ran.output, columns.split(", "))
    quoted = [part_of(ran.output, start) for start in _listed(block["parts"])]
    if block["lines"]:
        quoted.append("\n".join(line_of(ran.output, start) for start in _listed(block["lines"])))
    if quoted:
        yield "```text\n" + "\n\n".join(quoted) + "\n```"


def _listed(starts: str | None) -> list[str]:
    return starts.split("; ") if starts else []


_CARELESS = """\
# Judges by the rules of `fake:`, and refuses one request in five.
faults: {refusal: 0.2}
"""


def make_models(folder: Path) -> None:
    """`tfidf/`, `reader.yaml` and `judge.yaml` in `folder`; the same bytes every time."""
    from arena.datasets import load_dataset

    folder.mkdir(parents=True, exist_ok=True)
    world = load_dataset("world")
    write_tfidf(folder / "tfidf", [f"{one.title}. {one.text}" for one in world.documents])
    write_reader(folder / "reader.yaml", world)
    (folder / "judge.yaml").write_text(_CARELESS, encoding="utf-8")


CONFIGS = Path(__file__).parents[2] / "experiments" / "configs"
MAKE_MODELS = ["python", "-m", "docs.build.seed_systems", "--models"]

TERMINAL = {"COLUMNS": "110", "FORCE_COLOR": "", "TTY_COMPATIBLE": "0"}
"""What the environment must say for Rich to print alike wherever the page is written."""


@contextmanager
def workplace() -> Iterator[None]:
    """An empty folder with the configs in their place, as the current one."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(CONFIGS, folder / "experiments" / "configs")
        with chdir(folder):
            yield


def run(command: str) -> Ran:
    """Run one command of the page.

    Raises `RuntimeError` with what it said where it ends neither well nor with a check that failed.
    """
    words = shlex.split(command)
    if words[:-1] == MAKE_MODELS:
        make_models(Path(words[-1]))
        return Ran(0, "")
    if words[0] != "arena":
        raise ValueError(f"the page runs `arena` and `{shlex.join(MAKE_MODELS)} FOLDER`, not {command!r}")
    code, output, said = _arena(words[1:])
    if code not in (0, 1):
        raise RuntimeError(f"{command!r} ended with exit code {code}: {said}")
    return Ran(code, output)


def _arena(arguments: list[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr."""
    from experiments.cli.main import main

    output, said = io.StringIO(), io.StringIO()
    with redirect_stdout(output), redirect_stderr(said):
        try:
            main(arguments)
            code: int | str | None = 0
        except SystemExit as stop:
            code = stop.code
    return int(code or 0), output.getvalue(), said.getvalue()


DIFFERS = 1


def main() -> int:
    """Exit code 1: `--check`, and the page is not what its commands print."""
    parser = argparse.ArgumentParser(prog="python -m docs.build.seed_systems", description=__doc__)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="write nothing, and print what differs")
    what.add_argument("--models", type=Path, metavar="FOLDER", help="make the page's encoder, reader and judge there")
    options = parser.parse_args()
    if options.models:
        make_models(options.models)
        return 0
    for name, value in TERMINAL.items():
        os.environ.setdefault(name, value)
    before = PAGE.read_text(encoding="utf-8")
    with workplace():
        after = render(before, run)
    if options.check:
        sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), after.splitlines(True), "page", "run"))
        return DIFFERS if before != after else 0
    PAGE.write_text(after, encoding="utf-8")
    return 0


_SLIPS_EVERY = 4
_HEAD_CHARS = 60  # of a document: enough to know it by
_FINAL = r"(?s)\AAnswer the question "
"""How every prompt for a final answer begins, and no other."""


def write_reader(path: Path, dataset: Dataset) -> None:
    """It answers right if all gold documents are in the prompt, and else abstains.

    Of the questions of several hops it stops at every fourth one hop short, and gives what its last document is about:
    wrong, in words of the evidence. Requests for anything but a final answer are left to the rules of `fake:`.
    """
    rules = [{"when": when, "reply": reply} for when, reply in _replies(dataset)]
    rules.append({"when": _FINAL, "reply": ABSTENTION})
    path.write_text(yaml.safe_dump({"rules": rules}, allow_unicode=True, width=1_000), encoding="utf-8")


def _replies(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """What a prompt has to look like, and the answer to it."""
    documents = {document.doc_id: document for document in dataset.documents}
    chains = 0
    for question in dataset.questions:
        gold = dataset.gold[question.question_id]
        if not gold.answers:
            continue
        evidence = [documents[doc_id] for doc_id in gold.hop_order or gold.supporting_ids]
        chains += question.kind == "multi_hop"
        slips = question.kind == "multi_hop" and chains % _SLIPS_EVERY == 0
        yield _prompt_with(question, evidence), evidence[-1].title if slips else gold.answers[0]


def _prompt_with(question: Question, evidence: Sequence[Document]) -> str:
    """A regular expression for a prompt that asks `question` and shows all of `evidence`."""
    shown = (re.escape(f"] {one.title}: {one.text[:_HEAD_CHARS]}") for one in evidence)
    asked = re.escape(f"\nQuestion: {question.text}\nAnswer:")
    return rf"{_FINAL}(?=.*{asked}\Z)" + "".join(rf"(?=.*{one})" for one in shown)


_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_COMMON = 0.2  # a word that more of the texts have is taken for a function word
_MAX_TOKENS = 512
_NO_SCALING = 1e4  # an epsilon far above any variance makes the layer norm linear


def write_tfidf(folder: Path, texts: Sequence[str]) -> None:
    """An encoder with a dimension for each word of `texts` but the commonest.

    A BERT without layers. The vector of a word is its idf, ln(texts / texts that have it), in the word's own dimension;
    that of a text is the mean over its tokens. Words that are common, or in no text, count for nothing.
    """
    from transformers import BertTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    frequencies = sorted(_document_frequencies(texts).items())
    idf = {word: math.log(len(texts) / n) for word, n in frequencies if n <= _COMMON * len(texts)}
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("".join(f"{word}\n" for word in (*_SPECIAL, *idf)), encoding="utf-8")
    tokenizer = BertTokenizerFast(vocab_file=str(vocabulary), model_max_length=_MAX_TOKENS)
    tokenizer.save_pretrained(folder)
    _write_weights(folder, idf)
    _write_pipeline(folder, len(_SPECIAL) + len(idf))


def _document_frequencies(texts: Sequence[str]) -> Counter[str]:
    """Word -> texts that have it, in the words that BERT's tokenizer sees."""
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer

    normalizer, splitter = BertNormalizer(), BertPreTokenizer()
    words = ({word for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(text))} for text in texts)
    return Counter(word for found in words for word in found)


def _write_weights(folder: Path, idf: Mapping[str, float]) -> None:
    import torch
    from transformers import BertConfig, BertModel

    size = len(_SPECIAL) + len(idf)
    config = BertConfig(
        vocab_size=size,
        hidden_size=size,
        num_hidden_layers=0,
        num_attention_heads=1,
        intermediate_size=1,
        max_position_embeddings=_MAX_TOKENS,
        layer_norm_eps=_NO_SCALING,
    )
    model = BertModel(config)
    weights = {name: torch.zeros_like(tensor) for name, tensor in model.state_dict().items()}
    places = range(len(_SPECIAL), size)
    weights["embeddings.word_embeddings.weight"][places, places] = torch.tensor(list(idf.values()))
    weights["embeddings.LayerNorm.weight"] += 1.0
    model.load_state_dict(weights)
    model.save_pretrained(folder)


def _write_pipeline(folder: Path, dimension: int) -> None:
    """Mean pooling, as sentence-transformers reads it."""
    stages = (("", "Transformer"), ("1_Pooling", "Pooling"))
    files = {
        "modules.json": [
            {"idx": place, "name": str(place), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for place, (path, kind) in enumerate(stages)
        ],
        "sentence_bert_config.json": {"max_seq_length": _MAX_TOKENS, "do_lower_case": False},
        "1_Pooling/config.json": {"word_embedding_dimension": dimension, "pooling_mode_mean_tokens": True},
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
