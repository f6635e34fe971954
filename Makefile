# Everything from nothing but Python, pip, make and git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-long bench clean

$(VENV)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: $(VENV)/.ready
	$(BIN)/steinmetz run hyperelasticity

test: $(VENV)/.ready
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --dist loadgroup

test-long: $(VENV)/.ready
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m 'long or not long'

bench: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --constraint constraints.txt optimistix numpyro
	$(BIN)/python benchmarks/refit.py
	$(BIN)/python benchmarks/stein.py
	$(BIN)/python benchmarks/sparsify.py
	$(BIN)/python benchmarks/accuracy.py

clean:
	rm -rf $(VENV) runs
