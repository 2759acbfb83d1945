from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.cli.main import main
from tests.tiny_models import build_tiny_minilm, build_tiny_reranker
from tests.tiny_t5 import build_tiny_t5, t5_router_folder

ROOT = Path(__file__).parents[2]
PACKAGES = ("arena", "strategies", "indexing", "experiments")
HEAVY = {"torch", "FlagEmbedding", "mlflow", "ragas", "datasets", "plotly", "transformers", "sentence_transformers"}
MODULES = sorted(
    str(path.relative_to(ROOT).with_suffix("")).replace("/", ".").removesuffix(".__init__")
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
)


def modules_of(statement: str, cwd: Path = ROOT) -> set[str]:
    code = f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def loaded_by(statement: str) -> set[str]:
    return packages(modules_of(statement))


def packages(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def command(folder: Path, *arguments: str) -> set[str]:
    """What `arena ARGUMENTS`, started in `folder`, has loaded when it ends."""
    call = f"from experiments.cli.main import main\ntry:\n    main({[*arguments]!r})\nexcept SystemExit as ended:\n"
    return modules_of(f"{call}    assert not ended.code, ended.code", folder)


def fill_the_cache(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    """`arena ARGUMENTS` in this process, which has the libraries, and in `folder`: models that no other test asks."""
    assert "torch" in sys.modules
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as ended:
        main([*arguments])
    assert not ended.value.code


def machine_of(run: Path) -> object:
    return json.loads((run / "manifest.json").read_text(encoding="utf-8"))["machine"]


def ours(modules: set[str]) -> int:
    return sum(name.partition(".")[0] in PACKAGES for name in modules)


def test_no_module_loads_anything_heavy_at_import() -> None:
    assert not loaded_by("\n".join(f"import {module}" for module in MODULES)) & HEAVY


def test_the_command_line_loads_neither_models_nor_graphs_nor_numbers() -> None:
    assert not loaded_by("import experiments.cli.main") & (HEAVY | {"langgraph", "langchain_core", "numpy", "pydantic"})


def test_a_warm_run_opens_no_model_and_reading_it_loads_little(
    tmp_path: Path, jsonl_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))
    model = f"embedding.model={build_tiny_minilm(tmp_path / 'minilm', seed=7)}"
    run = ("run", "--dataset", f"jsonl:{jsonl_folder}", "--llm", "fake:", "--strategies", "vanilla", "--modes", "dense")
    bare = (*run, "--set", model, "--no-mlflow", "--no-report", "--run-id")
    fill_the_cache(tmp_path, monkeypatch, *bare, "cold")
    warm = command(tmp_path, *bare, "warm")
    assert sorted(packages(warm) & (HEAVY | {"scipy", "pandas", "genai_prices"})) == []
    assert ours(warm) <= 300
    cold_machine, warm_machine = (machine_of(tmp_path / "runs" / name) for name in ("cold", "warm"))
    assert warm_machine == cold_machine
    shown = command(tmp_path, "show", "runs/warm")
    assert sorted(packages(shown) & (HEAVY | {"langgraph", "langchain_core", "pyarrow", "scipy", "httpx"})) == []
    assert ours(shown) <= 150


def test_models_that_judge_are_opened_for_questions_alone(
    tmp_path: Path, jsonl_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))
    evaluator, router = build_tiny_t5(tmp_path / "t5"), t5_router_folder(tmp_path / "router")
    corrective, adaptive = f"corrective:evaluator=t5:checkpoint={evaluator}", f"adaptive:policy=router:router={router}"
    run = ["run", "--dataset", f"jsonl:{jsonl_folder}", "--llm", "fake:", "--modes", "hybrid_rerank"]
    run += ["--strategies", f"vanilla,{corrective},{adaptive}", "--no-mlflow", "--no-report"]
    run += ["--set", f"embedding.model={build_tiny_minilm(tmp_path / 'minilm', seed=8)}"]
    run += ["--set", f"rerank.model={build_tiny_reranker(tmp_path / 'cross')}"]
    fill_the_cache(tmp_path, monkeypatch, *run, "--run-id", "one")
    later = (
        command(tmp_path, *run, "--dry-run"),
        command(tmp_path, "run", "--resume", "--run-id", "one", "--no-mlflow", "--no-report"),
        command(tmp_path, "show", "runs/one"),
    )
    assert [sorted(packages(one) & HEAVY) for one in later] == [[], [], []]


def test_every_module_says_what_it_is_for() -> None:
    def source(module: str) -> Path:
        path = ROOT / Path(*module.split("."))
        return path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__init__.py"

    assert [one for one in MODULES if not source(one).read_text(encoding="utf-8").startswith('"""')] == []
