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
		--editable '.[http,wordllama]' --editable 'adapters/pgvector[binary]' --editable adapters/qdrant \
		--editable adapters/weaviate \
		--group test --group lint --group demo --group bench
	@touch $@

# What people install: the wheels alone, the core without an extra, and this checkout not on the path.
wheel: .venv/ready
	rm -rf dist
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist . adapters/pgvector adapters/qdrant adapters/weaviate
	$(PYTHON) -m venv dist/venv
	dist/venv/bin/pip install --quiet --constraint constraints.txt dist/soev_retrieval-*.whl
	cd dist && venv/bin/python -I ../tests/wheel.py
	dist/venv/bin/pip install --quiet --constraint constraints.txt \
		dist/soev_retrieval_pgvector-*.whl psycopg-binary
	cd dist && venv/bin/python -I ../tests/wheel_pgvector.py
	dist/venv/bin/pip install --quiet --constraint constraints.txt dist/soev_retrieval_qdrant-*.whl
	cd dist && venv/bin/python -I ../tests/wheel_qdrant.py
	dist/venv/bin/pip install --quiet --constraint constraints.txt dist/soev_retrieval_weaviate-*.whl
	cd dist && venv/bin/python -I ../tests/wheel_weaviate.py

clean:
	rm -rf .venv dist
