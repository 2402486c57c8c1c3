# `make demo` runs the main job on real text, `make test` the whole suite; each sets itself up.

PYTHON ?= python3.11
BIN := .venv/bin

.PHONY: demo test lint bench wheel clean

demo: .venv/ready
	@$(BIN)/python -m demo $(ARGS)

test: .venv/ready
	$(BIN)/python -m pytest $(ARGS)

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/basedpyright

bench: .venv/ready
	$(BIN)/python -m benchmarks $(ARGS)

.venv/ready: pyproject.toml constraints.txt $(wildcard adapters/*/pyproject.toml)
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade --constraint constraints.txt pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt \
		--editable '.[http,wordllama]' --editable 'adapters/pgvector[binary]' --group test --group lint --group demo --group bench
	@touch $@

# What people install: the wheel alone, without an extra and without this checkout on the path.
wheel: .venv/ready
	rm -rf dist
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	$(PYTHON) -m venv dist/venv
	dist/venv/bin/pip install --quiet --constraint constraints.txt dist/*.whl
	cd dist && venv/bin/python -I ../tests/wheel.py

clean:
	rm -rf .venv dist
