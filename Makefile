# Two commands do everything on a fresh machine:
#   make quickstart   install, then run the arena on its bundled world
#   make test         install, then lint, types, import rules and tests (make check is its fast half)
#
# PYTHON picks the interpreter (3.11 or newer). On Linux, torch from the default index is the CUDA build (3 GB); for the CPU build:
#   make quickstart TORCH_INDEX=https://download.pytorch.org/whl/cpu

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TORCH_INDEX ?=
MINUTES ?= 10
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help quickstart test check fuzz lint bench ui clean all-tests fast-tests

help: ## list the commands
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

quickstart: $(VENV)/.installed ## install and run the arena on its bundled world
	$(BIN)/arena run

# Tests start many processes: compiled modules are kept, even where the environment says not to.
test check: export PYTHONDONTWRITEBYTECODE :=

# Lint goes on beside the tests, whose two workers leave a part of two cores idle; `make lint` alone is the quickest answer.
test: $(VENV)/.installed-dev ## install, lint, types, import rules and tests
	$(MAKE) --jobs=2 --no-print-directory lint all-tests

check: $(VENV)/.installed-dev ## the fast half: lint, types, import rules and unit tests without real models
	$(MAKE) --jobs=2 --no-print-directory lint fast-tests

all-tests: $(VENV)/.installed-dev
	$(BIN)/python -m pytest

fast-tests: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m "not models" tests/unit tests/architecture

fuzz: $(VENV)/.installed-dev ## property tests on fresh seeds, as in make fuzz MINUTES=60
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES)

lint: $(VENV)/.installed-dev ## style, types and import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.installed ## measure this project's own speed and memory
	$(BIN)/arena bench startup
	$(BIN)/arena bench world
	$(BIN)/arena bench embedding
	$(BIN)/arena bench index
	$(BIN)/arena bench retrieval
	$(BIN)/arena bench llm
	$(BIN)/arena bench strategies
	$(BIN)/arena bench scoring
	$(BIN)/arena bench runner

ui: $(VENV)/.installed ## open the MLflow store beside the runs
	mkdir -p runs
	$(BIN)/mlflow ui --backend-store-uri sqlite:///runs/mlflow.db --port 5000

clean: ## remove the environment and tool caches; runs are kept
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/.created:
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; try: make PYTHON=python3.11") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	touch $@

# torch comes first and by pip, so that an index of CPU builds can be given for it alone.
$(VENV)/.installed: $(VENV)/.created pyproject.toml constraints.txt
	$(PIP) $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) torch
	$(PIP) -e .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) -e '.[dev]'
	touch $@
