PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: venv demo test check bench notebooks clean

venv: $(READY)

# One stamp for the whole environment: it is built again only when what it is built from changes.
$(READY): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $(READY)

demo: $(READY)
	$(BIN)/python -m experiments.demo --out runs/demo

test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist worksteal

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 -m "not slow and not browser and not notebooks"

bench: $(READY)
	$(BIN)/python -m tests.bench

notebooks: $(READY)
	$(BIN)/python -m notebooks.build

clean:
	rm -rf $(VENV) runs dist
