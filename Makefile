# Every target makes what it needs. Results and environments of other targets are reused.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-deep check bench

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade-strategy only-if-needed --constraint constraints.txt "torch==2.13.0"
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch .venv/ready

demo: .venv/ready  ## from two CSV files to predictions, in about a minute
	$(BIN)/weft demo

test: .venv/ready  ## everything CI runs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n 2 -m "not deep"

check: test  ## the same, under the name that habits know

test-deep: .venv/ready  ## thousands of generated cases
	WEFT_DEEP=1 $(BIN)/python -m pytest -n 2

bench: .venv/ready  ## measure on this machine and write the tables of the README
	$(BIN)/python -m benchmarks.run --device cpu
	$(BIN)/python -m benchmarks.table
