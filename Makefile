# Everything from nothing but Python, pip, make and git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CODE := src tests benchmarks examples docs/pages tools

.PHONY: demo test test-newer test-long bench docs docs-pages lock sbom audit clean

$(VENV)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,solvers]'
	touch $@

demo: $(VENV)/.ready
	$(BIN)/steinmetz run hyperelasticity

test: $(VENV)/.ready
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2

# A run and its readers, exporters and commands, and every sampler.
NEWER := tests/infer/test_contract.py::test_a_correlated_gaussian_has_its_mean_and_facts \
  tests/sparsify/test_contract.py tests/engine/test_fitness.py tests/predict tests/data \
  tests/exporters/test_contract.py tests/exporters/test_json.py tests/report/test_damaged.py \
  tests/report/test_exported.py tests/campaign/test_grid.py tests/test_reading.py \
  tests/test_cache.py tests/test_cli.py::test_wrong_input_is_one_sentence_and_exit_2

# The same with a newer Python and the newest packages, where one can be had.
test-newer: $(VENV)/.ready
	$(BIN)/python tools/newer.py .venv-newer -n 2 $(NEWER)

test-long: $(VENV)/.ready
	$(BIN)/python -m pytest -n 2 -m 'long or not long'

bench: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --constraint constraints.txt optimistix numpyro
	$(BIN)/python benchmarks/refit.py
	$(BIN)/python benchmarks/stein.py
	$(BIN)/python benchmarks/sparsify.py
	$(BIN)/python benchmarks/accuracy.py
	$(BIN)/python benchmarks/exports.py

# Pages that follow from the code: settings, commands, Python interface.
docs-pages: $(VENV)/.ready
	PYTHONPATH=docs $(BIN)/python -m pages

$(VENV)/.docs: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	touch $@

# The site, in `site/`; a broken link or reference is an error.
docs: docs-pages $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# Hashes of everything that is installed, from what the package index gives.
lock: $(VENV)/.ready
	$(BIN)/python tools/lock.py

# Bill of materials (CycloneDX) of what is installed.
sbom: $(VENV)/.ready
	mkdir -p build
	$(BIN)/python tools/sbom.py build/sbom.json

# Known vulnerabilities of what is installed, where the package index answers such questions.
audit: $(VENV)/.ready
	$(PYTHON) -m venv $(VENV)/audit
	$(VENV)/audit/bin/python -m pip install --quiet pip-audit
	$(VENV)/audit/bin/pip-audit --disable-pip --require-hashes --requirement requirements.lock

clean:
	rm -rf $(VENV) .venv-newer runs site
