# `make demo` runs the main job on real text, `make test` the whole suite; each sets itself up.

PYTHON ?= python3.11
BIN := .venv/bin

.PHONY: demo test lint bench clean

demo: .venv/ready
	@$(BIN)/python -m demo $(ARGS)

test: .venv/ready
	$(BIN)/python -m pytest $(ARGS)

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/basedpyright

bench: .venv/bench
	$(BIN)/python -m benchmarks $(ARGS)

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade --constraint constraints.txt pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt \
		--editable '.[http,wordllama]' --group test --group lint --group demo
	@touch $@

.venv/bench: .venv/ready
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group bench
	@touch $@

clean:
	rm -rf .venv
