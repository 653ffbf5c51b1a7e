# The two commands of the README: `make demo` and `make test`. Each sets up what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PEERS := $(VENV)/.peers
WHEEL := build/wheel

.PHONY: demo test lint format test-wheel test-peers bench bench-attention bench-models bench-scale-out clean

demo: $(STAMP)
	$(BIN)/qkv demo

test: $(STAMP)
	$(BIN)/python -m pytest -n auto --dist worksteal

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The sdist, the wheel that is made of it, and what a person has who installs that and nothing else.
test-wheel: $(STAMP)
	rm -rf $(WHEEL) && $(BIN)/python -m build --quiet --outdir $(WHEEL)/dist .
	$(PYTHON) -m venv $(WHEEL)/venv
	$(WHEEL)/venv/bin/python -m pip install --quiet --disable-pip-version-check $(WHEEL)/dist/*.whl
	cd $(WHEEL) && env -u PYTHONPATH venv/bin/qkv | grep -q 'One slip'
	cd $(WHEEL) && env -u PYTHONPATH venv/bin/qkv demo > demo.txt && grep -q 'Mistake: softmax down the columns' demo.txt && cat demo.txt

test-peers: $(PEERS)
	$(BIN)/python -m pytest -m peers tests

bench: $(STAMP)
	-$(BIN)/python benchmarks/bench.py
	$(BIN)/python benchmarks/bench_laws.py
	$(BIN)/python benchmarks/bench_planted.py
	$(BIN)/python benchmarks/bench_grade.py

bench-attention: $(PEERS)
	$(BIN)/python benchmarks/bench_attention.py

bench-models: $(PEERS)
	$(BIN)/python benchmarks/bench_models.py

bench-scale-out: $(PEERS)
	$(BIN)/python benchmarks/bench_scale_out.py
	$(BIN)/python docs/scale_out.py

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,lint]'
	touch $@

$(PEERS): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[peers]'
	touch $@

.venv: $(STAMP)

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
