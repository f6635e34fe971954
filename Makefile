# Everything from nothing but Python, pip, make and git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CODE := src tests benchmarks examples docs/pages

.PHONY: demo test test-long bench docs docs-pages clean

$(VENV)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: $(VENV)/.ready
	$(BIN)/steinmetz run hyperelasticity

test: $(VENV)/.ready
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2

test-long: $(VENV)/.ready
	$(BIN)/python -m pytest -n 2 -m 'long or not long'

bench: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --constraint constraints.txt optimistix numpyro
	$(BIN)/python benchmarks/refit.py
	$(BIN)/python benchmarks/stein.py
	$(BIN)/python benchmarks/sparsify.py
	$(BIN)/python benchmarks/accuracy.py

# Pages that follow from the code: settings, commands, Python interface.
docs-pages: $(VENV)/.ready
	PYTHONPATH=docs $(BIN)/python -m pages

$(VENV)/.docs: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	touch $@

# The site, in `site/`; a broken link or reference is an error.
docs: docs-pages $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

clean:
	rm -rf $(VENV) runs site
