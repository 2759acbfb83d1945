"""`arena index`, `arena datasets`, `arena models` and `arena strategies`: parse, call, print; no logic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from arena.errors import DatasetError
from experiments.terminal import tables
from experiments.terminal.tables import Console, as_json, put

if TYPE_CHECKING:
    from arena.config import RunConfig
    from arena.leaderboard.build import Leaderboard
    from arena.store import RunStore
    from arena.types import Document
    from experiments.terminal.progress import Reporter

CHECK_FAILED = 1
"""Exit code: done, but a check the user asked for failed."""

datasets_app = typer.Typer(help="What can be asked: list, inspect and make datasets.", no_args_is_help=True)
models_app = typer.Typer(help="Weights that need no account: list and fetch.", no_args_is_help=True)
strategies_app = typer.Typer(help="The contestants: list, show beside their papers, label.", no_args_is_help=True)
index_app = typer.Typer(help="The index of a corpus: build, inspect and verify.", no_args_is_help=True)
MovedData = Annotated[
    str | None,
    typer.Option("--dataset", help="Where the run's data lie now, if they were moved, as in jsonl:NEW."),
]


def new_reporter(*, quiet: bool = False) -> Reporter:
    """Who tells on stderr how the work goes on; `quiet`, as with --json: nothing but warnings."""
    from experiments.terminal.progress import Reporter

    return Reporter(Console(stderr=True), quiet=quiet)


def print_board(store: RunStore, board: Leaderboard, *, json: bool) -> None:
    """Print a leaderboard as a table, or as the JSON that the run folder has."""
    from arena.report.console import print_leaderboard

    if json:
        put(store.leaderboard_json(), end="")
    else:
        print_leaderboard(board, Console())
    put(end="", flush=True)  # what follows may take seconds, and be stopped


def given(**options: Any) -> dict[str, Any]:
    """The options the user gave: neither None nor empty."""
    return {name: value for name, value in options.items() if value is not None and value != {}}


@datasets_app.command("list")
def datasets_list() -> None:
    """Show every dataset and how to write it after --dataset."""
    Console().print(tables.datasets_table())


@datasets_app.command("info")
def datasets_info(
    dataset: Annotated[str, typer.Argument(help="As after --dataset: world, ragrouter, musique:PATH, jsonl:DIR, ...")],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show licence and citation of a dataset, then count its kinds, hops, homonym titles and words.

    Licence and citation are shown even where the data cannot be loaded; that ends with exit code 2.
    """
    from arena.datasets import dataset_entry, load_dataset
    from arena.datasets.table import describe

    entry = dataset_entry(dataset.partition(":")[0])
    if json:
        put(as_json(tables.info_facts(describe(load_dataset(dataset)), entry)))
        return
    put(tables.about_text(entry), flush=True)

    info, console = describe(load_dataset(dataset)), Console()
    console.print(tables.info_table(info))
    tables.print_notes(info, console)


@datasets_app.command("make-world")
def datasets_make_world(
    documents: Annotated[int, typer.Option(min=1, help="Documents of the corpus.")] = 240,
    questions: Annotated[int, typer.Option(min=1, help="Questions on it.")] = 60,
    seed: Annotated[int, typer.Option(min=0, help="The same seed writes the same bytes.")] = 7,
    out: Annotated[
        Path | None, typer.Option(help="Folder to write, used as jsonl:DIR; default world-DOCUMENTS-SEED.")
    ] = None,
) -> None:
    """Make a fictional world that no language model can know, prove its questions sound, and write it."""
    from arena.datasets.jsonl import write_jsonl
    from arena.datasets.world import check_world, make_world
    from experiments.terminal.progress import Reporter

    folder, reporter = out or Path(f"world-{documents}-{seed}"), Reporter(Console())
    reporter.say(f"making {documents} documents and {questions} questions from seed {seed} ...")
    world = make_world(documents, questions, seed)
    reporter.say("proving every question from the text ...")
    if violations := check_world(world):
        shown = "; ".join(violations[:3])
        raise DatasetError(f"{len(violations)} question(s) of this world are unsound ({shown}); please report the seed")
    write_jsonl(world, folder)
    reporter.say(f"{folder}: {world.fingerprint}; ask it with: arena run --dataset jsonl:{folder}")


@models_app.command("list")
def models_list() -> None:
    """Show the named weights, their size, licence and source, and which are on this machine."""
    put(tables.models_text())


@models_app.command("fetch")
def models_fetch(name: Annotated[str, typer.Argument(help="A name that `arena models list` shows.")]) -> None:
    """Download named weights, verify their SHA-256, and print where they are."""
    from experiments.execution.equipment import fetch_weights

    put(fetch_weights(name, new_reporter()))


@strategies_app.command("list")
def strategies_list(json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> None:
    """Show every strategy, the tier it can run at and what it needs."""
    from experiments.studies.strategies.facts import list_facts, list_rows, list_table

    listed, problems = list_facts()
    if json:
        put(as_json({"strategies": list_rows(listed)}))
    else:
        Console().print(list_table(listed))
    for problem in problems:
        put(f"arena: {problem}", err=True)


@strategies_app.command("show")
def strategies_show(
    name: Annotated[str, typer.Argument(help="A name that `arena strategies list` shows.")],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show a strategy beside its paper: decision points, settings, differences clause by clause, figure."""
    from experiments.studies.strategies.facts import facts_of, facts_text
    from strategies import find_strategy

    facts = facts_of(find_strategy(name))
    put(as_json(facts) if json else facts_text(facts))


@strategies_app.command("labels")
def strategies_labels(
    run_folder: Annotated[
        Path,
        typer.Argument(
            help="A run of adaptive:policy=always_a, always_b and always_c, or of closed_book, vanilla and ircot."
        ),
    ],
    out: Annotated[Path, typer.Option(help="File to write, used as adaptive:policy=oracle:oracle_labels=FILE.")],
    mode: Annotated[str | None, typer.Option(help="The retrieval mode that counts, where the run has several.")] = None,
    dataset: MovedData = None,
) -> None:
    """Label each question of a run with the simplest strategy that answered it right: A, B or C."""
    from experiments.studies.strategies.facts import label_run

    put(label_run(run_folder, out, mode, dataset))


@index_app.command("build")
def index_build(
    config: Annotated[Path | None, typer.Argument(help="YAML file of settings, as for arena run.")] = None,
    dataset: Annotated[str | None, typer.Option(help="As for arena run; default world.")] = None,
) -> None:
    """Build the index that a run with these settings will open; nothing is done where it is whole.

    A killed build goes on from what was embedded. A damaged index is built anew.
    """
    from experiments.execution.equipment import embedder_of, ready_index

    settings, documents = _corpus(config, dataset)
    reporter = new_reporter()
    embedder = embedder_of(settings, reporter)
    with ready_index(settings, documents, embedder, reporter, thorough=True) as index:
        put(index.folder)


@index_app.command("info")
def index_info(json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> None:
    """Show every index in the cache: model, chunking, engine, counts and size."""
    rows = _index_rows()
    if json:
        put(as_json({"indexes": rows}))
    else:
        Console().print(_index_table(rows))


@index_app.command("verify")
def index_verify(
    config: Annotated[Path | None, typer.Argument(help="YAML file of settings, as for arena run.")] = None,
    dataset: Annotated[str | None, typer.Option(help="As for arena run; default world.")] = None,
) -> None:
    """Work the index out anew: counts, hashes of every file, sampled vectors. Exit code 1 if anything differs."""
    from experiments.execution.equipment import chunking_of, embedder_of, engine_of, index_root
    from indexing.opening import plan_index
    from indexing.verify import verify_index

    settings, documents = _corpus(config, dataset)
    embedder = embedder_of(settings, new_reporter(), cached=False)  # to embed samples again, not to read them back
    engine, chunking = engine_of(settings), chunking_of(settings)
    folder = index_root() / plan_index(documents, embedder, engine, chunking).folder_name
    problems = verify_index(folder, documents, chunking=chunking, embedder=embedder, engine=engine)
    for problem in problems:
        put(problem)
    if problems:
        raise typer.Exit(CHECK_FAILED)
    put("sound")


def _corpus(config: Path | None, dataset: str | None) -> tuple[RunConfig, Sequence[Document]]:
    from arena.config import load_config
    from arena.datasets import load_dataset

    settings = load_config(config, given(dataset=dataset))
    return settings, load_dataset(settings.dataset).documents


Row = Mapping[str, str | int | float | None]


def _index_rows() -> list[Row]:
    """One row per index in the cache folder."""
    from experiments.execution.equipment import index_root
    from indexing.verify import list_indexes

    return [
        {
            "folder": str(info.folder),
            "model": str(info.manifest.identity.embedder.get("model", "")),
            "chunking": str(info.manifest.identity.chunking.get("method", "")),
            "engine": f"{info.manifest.identity.engine} {info.manifest.identity.engine_version}",
            "documents": info.manifest.documents,
            "passages": info.manifest.passages,
            "truncated_passages": info.manifest.truncated_passages,
            "search": str(info.manifest.identity.search.get("search", "")),
            "recall_at_10": info.manifest.recall_at_10,
            "disk_bytes": info.disk_bytes,
        }
        for info in list_indexes(index_root())
    ]


def _index_table(rows: Sequence[Row]) -> Table:
    """The rows for a terminal."""
    table = Table("index", "model", "chunking", "engine", "search", "documents", "passages", "cut short", "size")
    for row in rows:
        size = f"{float(row['disk_bytes'] or 0) / 1e6:.0f} MB"
        recall = row["recall_at_10"]
        search = row["search"] if recall is None else f"{row['search']}, recall@10 {recall:.3f}"
        named = (Path(str(row["folder"])).name, row["model"], row["chunking"], row["engine"], search)
        counts = (row["documents"], row["passages"], row["truncated_passages"])
        table.add_row(*(Text(str(value)) for value in (*named, *counts, size)))
    if rows:
        table.caption = f"in {Path(str(rows[0]['folder'])).parent}"
    return table
